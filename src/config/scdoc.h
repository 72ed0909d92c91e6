// SPDX-License-Identifier: MIT
// Text in the form of scdoc, which the pages of the manual are written in.
#pragma once

#include <string>
#include <string_view>

namespace config::scdoc {

// With a backslash before letters that mean something to scdoc.
std::string escaped(std::string_view text);
std::string bold(std::string_view text);
// A sentence of the tables, which has neither a capital nor a full stop, with both.
std::string sentence(std::string_view text);
// Lines that stay as they are, in a definition.
std::string literal(std::string_view lines);

}  // namespace config::scdoc
