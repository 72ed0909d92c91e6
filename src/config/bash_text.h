// SPDX-License-Identifier: MIT
// Enough of bash's grammar to read a file of assignments, and never anything that runs: statements, words,
// quotes, and the expansions whose value the file itself gives. Everything else is recognised only to say
// what it is.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace config {

// From one command separator (newline, ;) to the next, comments removed and line continuations joined.
struct BashStatement {
    int line = 0;
    std::string text;
};

std::vector<BashStatement> split_statements(std::string_view script);

// By how much this statement opens (if, case, for, {, a function) or closes (fi, esac, done, }) compound
// commands.
int compound_depth_change(std::string_view statement);

// Words as they are written, quotes kept: [[, "$X", ==, /a/*, ]], ||, return.
std::vector<std::string> split_raw_words(std::string_view statement);

struct BashWord {
    int line = 0;
    std::string raw;      // as written
    std::string text;     // quotes removed, expansions put in
    std::string trouble;  // why `text` can't be known; empty when it is
    bool has_quoted_wildcard = false;
};

// The values of a variable known so far: nothing where it is not known.
using Lookup = std::function<std::optional<std::vector<std::string>>(const std::string& name)>;

// Reads words beginning at `at`: one, or for an array those up to the closing parenthesis. `at` ends behind
// what was read.
// "${NAME[@]}" as a word of its own gives one word per value.
BashWord read_word(std::string_view text, size_t& at, const Lookup& lookup);
std::optional<std::vector<BashWord>> read_array(std::string_view text, size_t& at, int line,
                                                const Lookup& lookup);

bool is_bash_name_start(char letter);
bool is_bash_name_part(char letter);

}  // namespace config
