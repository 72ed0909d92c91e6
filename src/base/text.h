// SPDX-License-Identifier: MIT
// Small text helpers, mainly those that keep untrusted bytes from reaching a terminal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <ctime>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace base {

std::vector<std::string_view> split(std::string_view text, char separator);
std::string_view trim(std::string_view text);
std::string join(const std::vector<std::string>& parts, std::string_view separator);

// What is after the last slash.
constexpr std::string_view base_name(std::string_view path) {
    return path.substr(path.rfind('/') + 1);
}

// "1 file", "2 files"
std::string counted(uint64_t count, std::string_view one, std::string_view several);

// Control characters, escape sequences, bidirectional overrides and bytes that are not UTF-8 become visible
// escapes (\x1b). All untrusted text must pass through this function before it is shown.
std::string printable(std::string_view untrusted);

// As one word of a POSIX shell command line, quoted only where needed.
std::string shell_word(std::string_view text);

// The candidate nearest to a mistyped word, at most `most` edits away; empty if no candidate is that near.
std::string nearest(std::string_view word, std::span<const std::string_view> candidates, size_t most);
std::string nearest(std::string_view word, std::span<const std::string_view> candidates);

bool is_valid_utf8(std::string_view text);

// The first character of UTF-8 text. Length 0: the text is empty or does not begin with valid UTF-8.
struct CodePoint {
    uint32_t value = 0;
    size_t length = 0;
};
CodePoint first_code_point(std::string_view text);

// A time in the form used in file names: "20240229T235959Z". Without the C library, which would read the
// machine's time zone.
std::string utc_stamp(std::time_t moment);

}  // namespace base
