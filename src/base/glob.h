// SPDX-License-Identifier: MIT
// Shell-like patterns for names and paths, without the C library's locale dependence.
#pragma once

#include <string_view>

namespace base {

// `*` and `?` match any text (names of variables); no other character is special.
bool matches_name(std::string_view pattern, std::string_view name, bool ignore_case = false);

// `*` and `?` stop at a slash; `**` crosses slashes. "dir/**" also matches "dir" itself, and "**/" at the
// start of a component matches any number of whole components, including zero: "**/.env" matches ".env" and
// "a/b/.env".
bool matches_path(std::string_view pattern, std::string_view path);

bool has_wildcard(std::string_view text);

}  // namespace base
