// SPDX-License-Identifier: MIT
// Where quoted text, substitutions and escapes of bash end. Inside the importer alone.
#pragma once

#include <cstddef>
#include <string_view>

namespace config {

bool is_bash_blank(char letter);
bool is_bash_name_start(char letter);
bool is_bash_name_part(char letter);

// Deeper nesting than any person writes; reading stops there, and the statement swallows the rest.
inline constexpr int kDeepestBash = 50;

// Behind the quoted text, substitution or escape that begins at `at`, or at + 1 where none does. An unclosed
// one ends with the text: the statement then swallows the rest, which is left out and shown.
size_t skip_bash_quoted(std::string_view text, size_t at, int depth = 0);

// Behind the next `end`; a backslash guards it, but for single quotes.
size_t skip_bash_to(std::string_view text, size_t at, char end);

// Whether what skip_bash_quoted passed over is complete.
bool is_closed_bash(std::string_view quoted);

}  // namespace config
