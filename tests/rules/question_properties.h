// SPDX-License-Identifier: MIT
// Properties of questions about the rules and of lists of networks, made from any bytes. Returns the claim
// that these bytes break, or null.
#pragma once

#include <string>
#include <string_view>

#include "base/text.h"
#include "rules/built_in_rules.h"
#include "rules/rules_text.h"

namespace network {

inline const char* broken_for_question(std::string_view bytes) {
    auto is_one_line = [](const base::Error& error) {
        return !error.what.empty() && base::printable(error.line()) == error.line();
    };
    base::Result<Question> question = parse_question(bytes);
    if (!question && !is_one_line(question.error())) return "an error is one printable line";
    if (question) {
        std::string text = to_text(*question);
        base::Result<Question> again = parse_question(text);
        if (!again || to_text(*again) != text) return "a question reads as it is written";
        if (question->port == 0) return "a question is about a port";
    }
    base::Result<std::vector<Prefix>> networks =
        parse_private_networks({{std::string(bytes), config::from_flag("--test")}});
    if (!networks) return is_one_line(networks.error()) ? nullptr : "an error is one printable line";
    // No setting opens the host itself, its link-local network, or the metadata address of clouds.
    for (std::string_view closed : {"127.0.0.1", "169.254.169.254", "::1", "fe80::1"}) {
        for (const Prefix& prefix : *networks) {
            if (prefix.contains(*Address::parse(closed)))
                return "loopback, link-local and metadata are never opened";
        }
    }
    return nullptr;
}

}  // namespace network
