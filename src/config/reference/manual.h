// SPDX-License-Identifier: MIT
// The settings as a manual page, in the scdoc format.
#pragma once

#include <string>
#include <string_view>

namespace config::scdoc {

// Text in the scdoc format of the manual pages.

// Puts a backslash before characters that are special in scdoc.
std::string escaped(std::string_view text);
std::string bold(std::string_view text);
// Adds a capital and a full stop to a sentence from the tables, which has neither.
std::string sentence(std::string_view text);
// Lines that scdoc prints unchanged, in a definition.
std::string literal(std::string_view lines);

}  // namespace config::scdoc
