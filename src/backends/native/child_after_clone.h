// SPDX-License-Identifier: MIT
// From the clone to the inner stage. Nothing in the files named …_after_clone allocates, locks or calls
// anything that may (tests/structure/after_clone checks what they link to): the process is a copy of the
// supervisor, and inherits the state of its locks.
#pragma once

#include "backends/native/powers_after_clone.h"
#include "backends/native/script.h"
#include "network/netns/recipe.h"

namespace backends::native {

struct Work {
    CallerIds caller;
    int cgroup = -1;                            // cgroup.procs of the group to live in; -1: none
    network::netns::Recipe* network = nullptr;  // for its own network namespace; not set: it has none
    int listeners = -1;                         // where the recipe's sockets are sent
    Script* script = nullptr;
    int mounts = -1;  // the jail's mount namespace, once it is begun
    int self = -1;    // /proc/self of the host, from the beginning to the end
    mode_t mask = 0;  // the caller's umask
};

// What needs no plan.
Failure begin_jail(Work& work);
// The rest; on return without a failure the process is in the jail and has no power over it.
Failure build_jail(Work& work);

}  // namespace backends::native
