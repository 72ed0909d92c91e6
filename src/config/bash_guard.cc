// SPDX-License-Identifier: MIT
#include "config/bash_guard.h"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

#include "base/glob.h"

namespace config {
namespace {

using Words = std::span<const std::string>;

bool is_project_directory(std::string_view word) {
    static constexpr std::array<std::string_view, 4> kSpellings = {
        "$_PROJECT_DIR", "${_PROJECT_DIR}", "\"$_PROJECT_DIR\"", "\"${_PROJECT_DIR}\""};
    return std::ranges::find(kSpellings, word) != kSpellings.end();
}

bool take(Words& words, std::string_view word) {
    if (words.empty() || words.front() != word) return false;
    words = words.subspan(1);
    return true;
}

// "return", "exit 0", "{ return 1 }", and nothing behind it but `end`.
bool is_return(Words words, std::string_view end = {}) {
    bool is_group = take(words, "{");
    if (!take(words, "return") && !take(words, "exit")) return false;
    if (!words.empty() && words.front().find_first_not_of("0123456789") == std::string::npos)
        words = words.subspan(1);
    if (is_group && !take(words, "}")) return false;
    if (!end.empty() && !take(words, end)) return false;
    return words.empty();
}

struct Test {
    std::string pattern;
    bool is_match;  // true where the project's directory matches
};

// [[ "$_PROJECT_DIR" == GLOB ]], taken from the front of `words`.
std::optional<Test> take_test(Words& words) {
    bool is_double = take(words, "[[");
    if (!is_double && !take(words, "[")) return std::nullopt;
    bool is_negated = take(words, "!");
    if (words.size() < 4 || !is_project_directory(words[0])) return std::nullopt;
    bool is_equal = words[1] == "==" || words[1] == "=";
    if (!is_equal && words[1] != "!=") return std::nullopt;
    if (words[3] != (is_double ? "]]" : "]")) return std::nullopt;
    Test test{words[2], is_equal != is_negated};
    words = words.subspan(4);
    // [ ] has no patterns.
    if (!is_double && base::has_wildcard(test.pattern)) return std::nullopt;
    return test;
}

std::optional<std::string> pattern_of_test(Words words) {
    bool is_if = take(words, "if");
    std::optional<Test> test = take_test(words);
    if (!test) return std::nullopt;
    bool returns_if_true = is_if ? take(words, "then") : take(words, "&&");
    bool returns_if_false = !is_if && !returns_if_true && take(words, "||");
    if (!returns_if_true && !returns_if_false) return std::nullopt;
    if (!is_return(words, is_if ? "fi" : "")) return std::nullopt;
    return test->is_match == returns_if_false ? std::optional(test->pattern) : std::nullopt;
}

// "GLOB)", or "(GLOB )" in two words.
std::optional<std::string> take_case_pattern(Words& words) {
    if (words.empty()) return std::nullopt;
    std::string pattern = words.front();
    words = words.subspan(1);
    if (pattern.starts_with('(')) pattern.erase(0, 1);
    if (pattern.ends_with(')')) {
        pattern.pop_back();
    } else if (!take(words, ")")) {
        return std::nullopt;
    }
    bool has_alternatives = pattern.find('|') != std::string::npos;
    return has_alternatives ? std::nullopt : std::optional(pattern);
}

std::optional<std::string> pattern_of_case(Words words) {
    if (!take(words, "case") || words.empty() || !is_project_directory(words.front())) return std::nullopt;
    words = words.subspan(1);
    if (!take(words, "in")) return std::nullopt;
    std::optional<std::string> pattern = take_case_pattern(words);
    if (!take(words, ":")) take(words, "true");
    std::optional<std::string> others = take_case_pattern(words);
    bool is_guard = pattern && others == "*" && is_return(words, "esac");
    return is_guard ? pattern : std::nullopt;
}

}  // namespace

std::optional<std::string> guarded_pattern(const std::vector<std::string>& words) {
    if (std::optional<std::string> pattern = pattern_of_test(words)) return pattern;
    return pattern_of_case(words);
}

}  // namespace config
