// SPDX-License-Identifier: MIT
// Placeholders that are files, because a program dies of a directory under their name. They hold nothing, the
// one line that tells git to stay where it is, or an empty JSON object: by that they are known again, and a
// file with anything else in it is somebody's own.
#pragma once

#include <string_view>

namespace session {

// In the open directory `parent`, complete at once: nobody sees it empty who reads it. Zero, or errno.
int make_placeholder_file(int parent, const char* name, std::string_view content);

bool is_placeholder_file(int parent, const char* name);

}  // namespace session
