// SPDX-License-Identifier: MIT
// Properties of the rules in a .gitignore with arbitrary bytes: a jailed process writes it. The unit tests
// check them with the seeds and with damaged seeds, the fuzzer with its mutations of the seeds.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "layers/ignored.h"

namespace layers {

inline const char* broken_for_ignore_rules(std::string_view bytes) {
    const std::vector<IgnoreRule> rules = parse_ignore_rules(bytes);
    if (rules.size() > bytes.size()) return "more rules than bytes";
    for (const IgnoreRule& rule : rules) {
        if (rule.pattern.empty() || rule.pattern.find('\n') != std::string::npos) return "not one line";
        size_t budget = 10'000;
        (void)matches_pattern(rule.pattern, "src/a b/x.c", budget);
        if (budget > 10'000) return "more was used than there is";
        size_t none = 0;
        if (matches_pattern(rule.pattern, "a", none)) return "a match without a comparison";
    }
    const std::string text(bytes);
    auto read = [&](const std::string& path) {
        return path == ".gitignore" ? std::optional(text) : std::nullopt;
    };
    IgnoredFiles tracked(read, "", {"src/a"});
    if (tracked.is_ignored("src/a", false) || tracked.is_ignored("src", true))
        return "a tracked file is ignored";
    IgnoredFiles files(read, "", {});
    const bool is_directory_ignored = files.is_ignored("src", true);
    if (is_directory_ignored && !files.is_ignored("src/b", false))
        return "a file below an ignored directory is not";
    if (IgnoredFiles([](const std::string&) { return std::nullopt; }, "", {}).is_ignored("a", false))
        return "ignored without a rule";
    return nullptr;
}

}  // namespace layers
