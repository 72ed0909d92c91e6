// SPDX-License-Identifier: MIT
// Opens paths in trees that other processes may be changing right now, and, for kernels before 5.12, which
// can't change a tree of mounts at once, sets the rights of every mount of the new view.
#pragma once

#include <sys/types.h>

#include "backends/native/script.h"

namespace backends::native {

// Opens paths in trees that other processes may be changing right now.

// O_PATH, below `directory`, without following a symbolic link in any component. Returns the descriptor, or
// minus errno; ELOOP: a component is a link. AT_FDCWD: from the root of this process.
int open_without_links(int directory, const char* path);

// The same, but a symbolic link at the end of the path is opened itself.
int open_link_itself(int directory, const char* path);

// The same as open_without_links below `directory`, and makes missing components: directories with the mode
// `leading`, and as the last one a directory or an empty file.
int open_or_make_without_links(int directory, const char* path, bool is_directory, mode_t leading);

// For kernels before 5.12, which can't change a tree of mounts at once: sets the rights of every mount of the
// new view, in one pass over the mount table.

// The process's root is the new root already, and `root` is its descriptor; `self` is /proc/self of the host.
Failure remount(const Script& script, int self, int root);

}  // namespace backends::native
