// SPDX-License-Identifier: MIT
// Files below /etc that the caller can read although not everyone may: as owner or through a group. A jail
// shows only what is everyone's, because the caller's groups go along into it.
#pragma once

#include <string>
#include <vector>

#include "base/path.h"

namespace host {

// The topmost such files and directories. The answer is kept in `cache_file` and used again while no
// directory below `root` has changed, for an hour at most: a file whose mode alone is tightened was
// everyone's until then. An unusable cache is no error.
std::vector<base::Path> find_private_files(const base::Path& root, const std::string& cache_file);

}  // namespace host
