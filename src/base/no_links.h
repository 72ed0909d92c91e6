// SPDX-License-Identifier: MIT
// Opening and making what a path names without following a symbolic link anywhere in it: for trees that a
// jailed process may have written, where a link could lead us out of the place that was meant.
#pragma once

#include "base/file.h"
#include "base/path.h"
#include "base/result.h"

namespace base {

// open(2) with these flags (O_CLOEXEC is added); the descriptor, or minus errno. ELOOP says that a component
// is a symbolic link.
int open_without_links(const Path& path, int flags);

// Makes the directory and its missing parents, each with `mode`. `path` existing as anything but a directory
// is an error.
Status make_directories_without_links(const Path& path, unsigned mode);

}  // namespace base
