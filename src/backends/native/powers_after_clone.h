// SPDX-License-Identifier: MIT
// The identity of a launch's child: root of its own user namespace while it builds, without power afterwards.
#pragma once

#include <sys/types.h>

#include "backends/native/script.h"

namespace backends::native {

struct CallerIds {
    uid_t user = 0;
    gid_t group = 0;
};

// Maps the caller to root of this process's user namespace. `self` is /proc/self of the host.
Failure become_root(const CallerIds& caller, int self);

// Makes a second user namespace, in which the caller has its own ids again. The first one, which owns the
// mounts, the network and the rest, can't be reached from then on, and all power over the second is given up.
Failure give_up_power(const CallerIds& caller, int self);

}  // namespace backends::native
