// SPDX-License-Identifier: MIT
// Properties of the text form of rules, for any bytes.
#pragma once

#include <string_view>

#include "rules/rules_text.h"

namespace network {

inline const char* broken_for_settings(std::string_view text) {
    auto settings = decode_settings(text);
    if (!settings) return settings.error().what.empty() ? "rules are refused without a word" : nullptr;
    std::string again = encode_settings(settings->rules, settings->passed_types);
    auto same = decode_settings(again);
    if (!same) return "what was read can't be written";
    if (encode_settings(same->rules, same->passed_types) != again) return "the text of rules is not stable";
    (void)Engine::make(settings->rules);
    return nullptr;
}

}  // namespace network
