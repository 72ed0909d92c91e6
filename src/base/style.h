// SPDX-License-Identifier: MIT
// Emphasis for terminals. The caller decides whether the output is a terminal, and passes untrusted text
// through printable() first, because this code does not check it.
#pragma once

#include <string>
#include <string_view>

namespace base {

enum class Style { plain, bold, dim, red, green, yellow };

std::string styled(std::string_view text, Style style, bool is_coloured);

// The number of columns of valid UTF-8, counted as code points: good enough for names and sentences.
size_t display_width(std::string_view text);

}  // namespace base
