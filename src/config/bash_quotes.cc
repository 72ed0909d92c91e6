// SPDX-License-Identifier: MIT
#include "config/bash_quotes.h"

#include <algorithm>

namespace config {
namespace {

// At the closing quote, or at the end of the text.
size_t find_closing_quote(std::string_view text, size_t at, int depth) {
    while (at < text.size() && text[at] != '"') {
        // A single quote is an ordinary letter here, also behind a dollar.
        bool is_dollar_quote = text[at] == '$' && at + 1 < text.size() && text[at + 1] == '\'';
        at = text[at] == '\'' || is_dollar_quote ? at + 1 : skip_bash_quoted(text, at, depth);
    }
    return std::min(at, text.size());
}

struct Brackets {
    char open;
    char close;
};

size_t skip_nested(std::string_view text, size_t at, Brackets brackets, int depth) {
    int open = 0;
    while (at < text.size()) {
        if (text[at] == brackets.open) ++open;
        if (text[at] == brackets.close && --open == 0) return at + 1;
        bool is_bracket = text[at] == brackets.open || text[at] == brackets.close;
        at = is_bracket ? at + 1 : skip_bash_quoted(text, at, depth);
    }
    return text.size();
}

}  // namespace

bool is_bash_blank(char letter) {
    return letter == ' ' || letter == '\t' || letter == '\n' || letter == '\r';
}
bool is_bash_name_start(char letter) {
    return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || letter == '_';
}
bool is_bash_name_part(char letter) {
    return is_bash_name_start(letter) || (letter >= '0' && letter <= '9');
}

size_t skip_bash_to(std::string_view text, size_t at, char end) {
    while (at < text.size() && text[at] != end) at += end != '\'' && text[at] == '\\' ? 2 : 1;
    return std::min(at + 1, text.size());
}

size_t skip_bash_quoted(std::string_view text, size_t at, int depth) {
    if (depth > kDeepestBash) return text.size();
    char next = at + 1 < text.size() ? text[at + 1] : '\0';
    switch (text[at]) {
        case '\\':
            return std::min(at + 2, text.size());
        case '\'':
            return skip_bash_to(text, at + 1, '\'');
        case '"':
            return std::min(find_closing_quote(text, at + 1, depth + 1) + 1, text.size());
        case '`':
            return skip_bash_to(text, at + 1, '`');
        case '$':
            if (next == '(') return skip_nested(text, at + 1, {'(', ')'}, depth + 1);
            if (next == '{') return skip_nested(text, at + 1, {'{', '}'}, depth + 1);
            // In $'…' a backslash guards the quote.
            if (next == '\'') {
                size_t end = at + 2;
                while (end < text.size() && text[end] != '\'') end += text[end] == '\\' ? 2 : 1;
                return std::min(end + 1, text.size());
            }
            return at + 1;
        default:
            return at + 1;
    }
}

bool is_closed_bash(std::string_view quoted) {
    if (quoted.empty()) return true;
    if (quoted.front() == '\'' || quoted.front() == '`')
        return quoted.size() > 1 && quoted.back() == quoted.front();
    if (quoted.front() == '"') return find_closing_quote(quoted, 1, 0) < quoted.size();
    if (quoted.starts_with("$'")) return quoted.size() > 2 && quoted.back() == '\'';
    if (quoted.starts_with("$(")) return quoted.back() == ')';
    if (quoted.starts_with("${")) return quoted.back() == '}';
    return true;
}

}  // namespace config
