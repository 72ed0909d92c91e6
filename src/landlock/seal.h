// SPDX-License-Identifier: MIT
// For helpers of ours that read what untrusted programs send: they need no file at all once they run.
#pragma once

namespace landlock {

// From here on this process opens no file, makes none, listens on no TCP port, signals nobody and reaches no
// abstract socket, as far as the kernel's version goes. What is open stays usable. Zero or an errno; ENOSYS
// and EOPNOTSUPP where there is no Landlock. no_new_privs must be set.
int give_up_files();

}  // namespace landlock
