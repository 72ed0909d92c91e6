// SPDX-License-Identifier: MIT
// The rules as a text of fields (base/encoding/codec.h), for another process that enforces or explains them.
// Of an origin, only its layer and its description are stored: that process does not open the origin's file.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/encoding/codec.h"
#include "base/result.h"
#include "rules/engine.h"

template <>
struct base::OwnEncoding<config::Origin> {
    static void write(FieldWriter& writer, const config::Origin& origin);
    static void read(FieldReader& reader, config::Origin& origin);
};

template <>
inline constexpr policy::NetworkMode base::kLast<policy::NetworkMode> = policy::NetworkMode::isolated;

template <>
inline constexpr auto base::kFields<config::Item> = std::tuple(&config::Item::text, &config::Item::origin);

template <>
inline constexpr auto base::kFields<network::Bundle> = std::tuple(&network::Bundle::name,
                                                                  &network::Bundle::entries);

template <>
inline constexpr auto base::kFields<network::EngineSettings> = std::tuple(
    &network::EngineSettings::mode, &network::EngineSettings::mode_origin,
    &network::EngineSettings::literals_origin, &network::EngineSettings::are_literals_open,
    &network::EngineSettings::has_shipped_list, &network::EngineSettings::is_asking,
    &network::EngineSettings::is_observing, &network::EngineSettings::block, &network::EngineSettings::allow,
    &network::EngineSettings::private_networks, &network::EngineSettings::host_services,
    &network::EngineSettings::udp, &network::EngineSettings::bundles);

namespace network {

struct LiveSettings {
    EngineSettings rules;
    std::vector<uint16_t> passed_types;  // Egress::passed_types
};
std::string encode_settings(const EngineSettings& rules, const std::vector<uint16_t>& passed_types);
base::Result<LiveSettings> decode_settings(std::string_view text);

}  // namespace network
