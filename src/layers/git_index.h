// SPDX-License-Identifier: MIT
// git's index. Every `git status` may write it again with other times and inodes of the same files, which is
// not a change that a user made.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace layers {

// What the index says about each file: mode, object, flags and name, without times, sizes and inodes.
// Nothing: not an index of version 2 or 3 with SHA-1 that lists every file itself.
std::optional<std::string> staged_entries(std::string_view index);

// The object of this file, in hexadecimal; nothing: the index does not list it, or in several stages.
std::optional<std::string> object_of(std::string_view index, std::string_view path);

// The paths that the index lists. Nothing: as above.
std::optional<std::set<std::string>> paths_in(std::string_view index);

// Whether both list the same files with the same objects.
bool have_same_entries(std::string_view first, std::string_view second);

}  // namespace layers
