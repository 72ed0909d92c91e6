// SPDX-License-Identifier: MIT
// Emphasis for terminals. Whether there is a terminal is the caller's to know; text that came from outside
// goes through printable() first, since nothing here looks at it.
#pragma once

#include <string>
#include <string_view>

namespace base {

enum class Style { plain, bold, dim, red, green, yellow };

std::string styled(std::string_view text, Style style, bool is_coloured);

// The number of columns that valid UTF-8 takes, counted as code points: enough for names and sentences.
size_t display_width(std::string_view text);

}  // namespace base
