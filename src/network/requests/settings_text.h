// SPDX-License-Identifier: MIT
// The entries of [requests] as a text of fields (base/encoding/codec.h), for another process that enforces or
// explains them.
#pragma once

#include <string>
#include <string_view>

#include "base/encoding/codec.h"
#include "base/result.h"
#include "network/requests/rules.h"
#include "rules/rules_text.h"

template <>
inline constexpr auto base::kFields<network::requests::RequestSettings> =
    std::tuple(&network::requests::RequestSettings::allow, &network::requests::RequestSettings::ask,
               &network::requests::RequestSettings::block, &network::requests::RequestSettings::git,
               &network::requests::RequestSettings::opaque, &network::requests::RequestSettings::observe);

namespace network::requests {

inline constexpr std::string_view kSettingsTag = "requests";

inline std::string encode_settings(const RequestSettings& settings) {
    return base::encode_message(kSettingsTag, settings);
}

inline base::Result<RequestSettings> decode_settings(std::string_view text) {
    RequestSettings settings;
    if (base::decode_message(kSettingsTag, text, settings) == base::Decoded::well) return settings;
    return base::Error{.what = "the rules about requests are damaged"};
}

}  // namespace network::requests
