// SPDX-License-Identifier: MIT
// Small text helpers, above all those that keep untrusted bytes from reaching a terminal.
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

// Control characters, escape sequences, bidirectional overrides and bytes that are not UTF-8 become visible
// escapes (\x1b). Everything that came from outside passes through here before it is shown.
std::string printable(std::string_view untrusted);

// As one word of a POSIX shell command line, quoted only where needed.
std::string shell_word(std::string_view text);

// The candidate nearest to a mistyped word, or empty when none is near: within `most` letters that differ.
std::string nearest(std::string_view word, std::span<const std::string_view> candidates, size_t most);
std::string nearest(std::string_view word, std::span<const std::string_view> candidates);

bool is_valid_utf8(std::string_view text);

// The character that UTF-8 text begins with. Length 0: the text is empty or begins with something else.
struct CodePoint {
    uint32_t value = 0;
    size_t length = 0;
};
CodePoint first_code_point(std::string_view text);

// A moment as file names have it: "20240229T235959Z". The C library would read the machine's time zone for
// it.
std::string utc_stamp(std::time_t moment);

}  // namespace base
