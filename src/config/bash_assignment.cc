// SPDX-License-Identifier: MIT
#include "config/bash_assignment.h"

#include <algorithm>
#include <array>

#include "config/bash_quotes.h"

namespace config {
namespace {

// Behind "export", "declare -a" and the like, or zero.
size_t skip_declaration(std::string_view text) {
    static constexpr std::array<std::string_view, 5> kDeclare = {"export", "declare", "readonly", "typeset",
                                                                 "local"};
    std::vector<std::string> words = split_raw_words(text);
    if (words.empty() || std::ranges::find(kDeclare, words.front()) == kDeclare.end()) return 0;
    size_t at = words.front().size();
    for (size_t i = 1; i < words.size() && words[i].starts_with('-'); ++i)
        at = text.find(words[i], at) + words[i].size();
    return at;
}

// "declare -a NAME" says nothing about a value. Behind the name, or at `at`.
size_t skip_bare_name(std::string_view text, size_t at) {
    size_t end = at;
    while (end < text.size() && is_bash_name_part(text[end])) ++end;
    return end == text.size() || is_bash_blank(text[end]) ? end : at;
}

std::optional<BashAssignment> read_value(const BashStatement& statement, size_t& at,
                                         const LookupFor& lookup_for, BashAssignment assignment) {
    std::string_view text = statement.text;
    Lookup lookup = lookup_for(assignment.name);
    int line = statement.line + static_cast<int>(std::ranges::count(text.substr(0, at), '\n'));
    if (at < text.size() && text[at] == '(') {
        std::optional<std::vector<BashWord>> words = read_array(text, at, line, lookup);
        if (!words) return std::nullopt;
        assignment.is_array = true;
        assignment.words = *std::move(words);
    } else {
        BashWord word = read_word(text, at, lookup);
        word.line = line;
        assignment.words.push_back(std::move(word));
    }
    bool ends_here = at >= text.size() || is_bash_blank(text[at]);
    return ends_here ? std::optional(std::move(assignment)) : std::nullopt;
}

std::optional<BashAssignment> read_assignment(const BashStatement& statement, size_t& at,
                                              const LookupFor& lookup_for) {
    std::string_view text = statement.text;
    BashAssignment assignment;
    size_t start = at;
    if (!is_bash_name_start(text[at])) return std::nullopt;
    while (at < text.size() && is_bash_name_part(text[at])) ++at;
    assignment.name = text.substr(start, at - start);
    if (at < text.size() && text[at] == '[') {
        size_t close = text.find(']', at);
        if (close == std::string_view::npos) return std::nullopt;
        assignment.index = text.substr(at + 1, close - at - 1);
        at = close + 1;
    }
    if (text.substr(at).starts_with("+=")) {
        assignment.appends = true;
        ++at;
    }
    if (at >= text.size() || text[at] != '=') return std::nullopt;
    ++at;
    return read_value(statement, at, lookup_for, std::move(assignment));
}

}  // namespace

std::optional<std::vector<BashAssignment>> read_assignments(const BashStatement& statement,
                                                            const LookupFor& lookup_for) {
    std::string_view text = statement.text;
    std::vector<BashAssignment> assignments;
    size_t start = skip_declaration(text);
    for (size_t at = start;;) {
        while (at < text.size() && is_bash_blank(text[at])) ++at;
        if (at >= text.size()) break;
        if (size_t end = start > 0 ? skip_bare_name(text, at) : at; end > at) {
            at = end;
            continue;
        }
        std::optional<BashAssignment> assignment = read_assignment(statement, at, lookup_for);
        if (!assignment) return std::nullopt;
        assignments.push_back(*std::move(assignment));
    }
    if (assignments.empty() && start == 0) return std::nullopt;
    return assignments;
}

}  // namespace config
