// SPDX-License-Identifier: MIT
// The rules as text: a question of the user, the settings for another process, and the words of a verdict.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/encoding/codec.h"
#include "base/result.h"
#include "rules/engine.h"

namespace network {

// A question about the rules in the user's syntax: HOST, HOST:PORT, [ADDRESS]:PORT, udp:HOST:PORT or
// raw:HOST:PORT. The default port is 443.

base::Result<Question> parse_question(std::string_view text);
std::string to_text(const Question& question);

}  // namespace network

// The rules as a text of fields (base/encoding/codec.h), for another process that enforces or explains them.
// Of an origin, only its layer and its description are stored: that process does not open the origin's file.

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

// The texts of a verdict: the rule's name, the reason, the advice, and the smallest change that would allow
// it.

inline constexpr const char* kAskAdministrator = "only the administrator can change this";

std::string name_of(const Rule& rule);
// Refuses bytes that carry no name to judge. `change` is the entry that allows them unread.
Verdict raw_refusal(const Host& host, uint16_t port, std::string reason);
std::string allow_line(std::string_view entry);
Verdict verdict_by(const Rule& rule, const ConnectionAttempt& attempt);

// The entry for network.allow.
std::string entry_for(const ConnectionAttempt& attempt);
// The same as a command-line option or a line of a settings file.
std::string change_for(const ConnectionAttempt& attempt);
// A port of the floor is open if the administrator allows the server with that port.
std::string advice_for_port(const ConnectionAttempt& attempt);

}  // namespace network
