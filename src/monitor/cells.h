// SPDX-License-Identifier: MIT
// Text as a terminal shows it: in cells. Everything here takes any bytes and makes them printable first.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace monitor {

// Of printable text. Counted simply: East Asian letters and pictures take two cells, combining marks none.
size_t cells_of(std::string_view printable);

// Printable, in at most `width` cells; a text that was cut ends with "…".
std::string cut(std::string_view text, size_t width);

// The same with blanks up to `width`.
std::string padded(std::string_view text, size_t width);
std::string padded_left(std::string_view text, size_t width);

// "999", "1.2K", "34M".
std::string bytes_text(int64_t bytes);

// "12s", "3m", "2h05m", "5d".
std::string age_text(std::chrono::milliseconds age);

// How long ago "2024-02-29T23:59:59.123Z" was; never below zero, and zero for a text that is not a time.
std::chrono::milliseconds age_of(std::string_view time);

// "12:34:56" of such a time, or blanks.
std::string clock_text(std::string_view time);

// "[####------]"
std::string bar(int64_t used, int64_t limit, size_t width);

}  // namespace monitor
