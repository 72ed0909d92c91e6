// SPDX-License-Identifier: MIT
// Opens or creates a path without following any symbolic link in it: for trees that a jailed process may have
// written, where a link could lead out of the intended directory.
#pragma once

#include "base/file.h"
#include "base/path.h"
#include "base/result.h"

namespace base {

// open(2) with these flags (O_CLOEXEC is added); returns the descriptor or minus errno. ELOOP means that a
// component is a symbolic link.
int open_without_links(const Path& path, int flags);

// Creates the directory and its missing parents, each with `mode`. An error if `path` exists and is not a
// directory.
Status make_directories_without_links(const Path& path, unsigned mode);

}  // namespace base
