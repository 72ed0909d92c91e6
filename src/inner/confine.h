// SPDX-License-Identifier: MIT
// What confines the command besides the view, the seccomp filter and Landlock: a separate keyring and no core
// dumps.
#pragma once

#include "inner/launch_spec.h"

namespace inner {

// Joins a new session keyring, without the caller's keys. Zero or an errno.
int leave_keyring(const LaunchSpec& spec);

// No crash in the jail makes a core dump on the host.
void forbid_core_dumps();

}  // namespace inner
