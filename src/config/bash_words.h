// SPDX-License-Identifier: MIT
// Words of bash with quotes removed and those expansions put in whose value the file itself gives. Everything
// else is recognised only to say what it is.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace config {

struct BashWord {
    int line = 0;
    std::string raw;      // as written
    std::string text;     // quotes removed, expansions put in
    std::string trouble;  // why `text` can't be known; empty when it is
    bool has_quoted_wildcard = false;
};

// Longer and more than anybody writes: variables that double themselves must not fill the memory.
inline constexpr size_t kLongestBashWord = 64 << 10;
inline constexpr size_t kMostBashWords = 4096;
inline constexpr size_t kMostBashLetters = 1 << 20;  // of an array
inline constexpr std::string_view kTooLarge = "it grows too large: write the values out";

// The values of a variable known so far: nothing where it is not known.
using Lookup = std::function<std::optional<std::vector<std::string>>(const std::string& name)>;

// Reads words beginning at `at`: one, or for an array those up to the closing parenthesis. `at` ends behind
// what was read.
// "${NAME[@]}" as a word of its own gives one word per value.
BashWord read_word(std::string_view text, size_t& at, const Lookup& lookup);
std::optional<std::vector<BashWord>> read_array(std::string_view text, size_t& at, int line,
                                                const Lookup& lookup);
// The whole text as one word, blanks included: what stands behind := in ${NAME:=…}.
BashWord read_whole(std::string_view text, const Lookup& lookup);

}  // namespace config
