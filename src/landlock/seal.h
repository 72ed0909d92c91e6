// SPDX-License-Identifier: MIT
// For our own helpers that read data of untrusted programs: after their start they need no file at all.
#pragma once

namespace landlock {

// From here on this process can't open or create a file, listen on a TCP port, signal another process or
// connect to an abstract socket, as far as the kernel's version supports it. Open descriptors stay usable.
// Zero or an errno; ENOSYS and EOPNOTSUPP without Landlock. no_new_privs must be set.
int give_up_files();

}  // namespace landlock
