// SPDX-License-Identifier: MIT
// The text between the quotes of bash's $'…'.
#pragma once

#include <string>
#include <string_view>

namespace config {

// "\t", "\x41", "\101", "\u00e9" and their like become what they stand for; a text ends at \0, as in bash.
std::string decode_ansi_quoted(std::string_view inside);

}  // namespace config
