// SPDX-License-Identifier: MIT
// Who the child of a launch is: mapped to root of its own user namespace while it builds, nobody afterwards.
#pragma once

#include <sys/types.h>

#include "backends/native/failure.h"

namespace backends::native {

struct CallerIds {
    uid_t user = 0;
    gid_t group = 0;
};

// The caller becomes root of the namespace that this process is in. `self` is /proc/self of the host.
Failure become_root(const CallerIds& caller, int self);

// A second user namespace, in which the caller is the caller again. The first one, which owns the mounts, the
// network and the rest, is out of reach from then on; and of the power over the second nothing is kept.
Failure give_up_power(const CallerIds& caller, int self);

}  // namespace backends::native
