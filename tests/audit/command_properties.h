// SPDX-License-Identifier: MIT
// Properties of every command line that is written to a record. Returns the claim that these bytes break, or
// null.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "audit/secrets.h"
#include "base/text.h"

namespace audit {

// The bytes are words that each end with NUL; planted secrets follow them.
inline const char* broken_for_command(std::string_view bytes) {
    std::vector<std::string> command = {"program"};
    for (std::string_view word : base::split(bytes, '\0')) command.emplace_back(word);
    std::vector<std::string> shown = without_secrets(command);
    if (shown.size() != command.size()) return "a word stands for each word";
    std::vector<std::string> again = without_secrets(shown);
    for (size_t at = 0; at < shown.size(); ++at) {
        if (shown[at] == "***" && again[at] != "***") return "what is hidden stays hidden";
    }
    constexpr std::string_view kPlanted = "pl4nt3dS3cr3t";
    for (std::string_view before : {"--password=", "API_KEY=", "https://me:", "X-Api-Key: "}) {
        std::vector<std::string> longer = command;
        longer.push_back(std::string(before) + std::string(kPlanted) +
                         (before.starts_with("https") ? "@example.org" : ""));
        // Check the last word only: the input may contain the same letters where they are not a secret.
        if (std::string word = without_secrets(longer).back(); word.find(kPlanted) != word.npos)
            return "a secret is not shown, whatever stands before it";
    }
    return nullptr;
}

}  // namespace audit
