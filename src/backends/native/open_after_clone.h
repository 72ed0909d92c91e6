// SPDX-License-Identifier: MIT
// Opening by name in trees that somebody may be changing right now.
#pragma once

#include <sys/types.h>

namespace backends::native {

// O_PATH, below `directory`, and no symbolic link is followed anywhere on the way. The descriptor, or minus
// errno; ELOOP says that something is a link. AT_FDCWD: from the root of this process.
int open_without_links(int directory, const char* path);

// The same, but a symbolic link at the end of the path is opened itself.
int open_link_itself(int directory, const char* path);

// The same as open_without_links below `directory`, and what is missing on the way is made: directories with
// the mode `leading`, and last of all a directory or an empty file.
int open_or_make_without_links(int directory, const char* path, bool is_directory, mode_t leading);

}  // namespace backends::native
