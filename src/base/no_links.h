// SPDX-License-Identifier: MIT
// For trees that a jailed process may have written: opens or creates a path without following any symbolic
// link in it, because a link could lead out of the intended directory; finds a directory whose mode that
// process has changed.
#pragma once

#include <optional>
#include <string>

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

// The first directory on the way to `path`, the last component included, that belongs to the caller and whose
// mode takes a permission from its owner.
std::optional<Path> shut_directory(const Path& path);

// If there is such a directory, the advice becomes the command that opens it.
Error with_shut_directory(Error error, const Path& path);

// Removes a directory of ours with everything below, as far as possible. A process that filled it may have
// removed its permissions; all such processes have exited. Follows no link.
void remove_tree(const std::string& path);

}  // namespace base
