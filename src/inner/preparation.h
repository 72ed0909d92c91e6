// SPDX-License-Identifier: MIT
// The steps of the stage before the command starts: it checks the mounts of the view, writes files into an
// empty home, gives up privileges, and confines the command.
#pragma once

#include "inner/launch_spec.h"

namespace inner {

// Checks whether the mounts of the view are the intended ones.

// Zero if the target matches the check, else an errno: ENOENT, ELOOP (a symbolic link is in the path), ESTALE
// (something else is mounted there), EPERM (nothing is mounted there, or it can be written).
int failure_of(const Check& check);

// Files and links that the stage makes in an empty home of the jail, for a backend that can't.

// Replaces what is there already. Failures are ignored: a missing file is only an inconvenience for the user,
// and no promise depends on it. The place must belong to the jail: a check has shown that it is not the
// host's.
void write_files(const std::vector<WrittenFile>& files);

// What confines the command besides the view, the seccomp filter and Landlock: a separate keyring and no core
// dumps.

// Joins a new session keyring, without the caller's keys. Zero or an errno.
int leave_keyring(const LaunchSpec& spec);

// No crash in the jail makes a core dump on the host.
void forbid_core_dumps();

// Does what bubblewrap does for the processes that it starts, for a stage that no other program prepares.

// Drops every capability for good, also for a caller that is root: no program that is executed from here on
// gets one back, nor the identity of another user or group. Zero or an errno.
int give_up_privileges();

}  // namespace inner
