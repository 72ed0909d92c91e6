// SPDX-License-Identifier: MIT
// Enough of bash's grammar to tell the statements of a file apart, and never anything that runs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace config {

// From one command separator (newline, ;) to the next, comments removed and line continuations joined.
struct BashStatement {
    int line = 0;
    std::string text;
    bool is_closed = true;  // false: a quote, a parenthesis or a here-document runs to the end of the file
};

// A clause of a case ends: a statement of its own.
inline constexpr std::string_view kEndOfClause = ";;";

std::vector<BashStatement> split_statements(std::string_view script);

// Words as they are written, quotes kept: [[, "$X", ==, /a/*, ]], ||, return. Operators stand alone.
std::vector<std::string> split_raw_words(std::string_view statement);

}  // namespace config
