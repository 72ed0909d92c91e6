// SPDX-License-Identifier: MIT
// Placeholders that are files, because some programs fail if their name is a directory. Their content is one
// of base/inside/neutral_files.h and identifies them; a file with any other content belongs to the user.
#pragma once

#include <string_view>

namespace session {

// Makes it in the open directory `parent`, at once with its content, so that no reader sees it empty. Zero,
// or errno.
int make_placeholder_file(int parent, const char* name, std::string_view content);

bool is_placeholder_file(int parent, const char* name);

}  // namespace session
