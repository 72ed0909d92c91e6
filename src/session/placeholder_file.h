// SPDX-License-Identifier: MIT
// Placeholders that are files, because a program dies of a directory under their name. Their content is one
// of base/neutral_files.h: by that they are recognised, and a file with any other content belongs to the
// user.
#pragma once

#include <string_view>

namespace session {

// In the open directory `parent`, complete at once: nobody sees it empty who reads it. Zero, or errno.
int make_placeholder_file(int parent, const char* name, std::string_view content);

bool is_placeholder_file(int parent, const char* name);

}  // namespace session
