// SPDX-License-Identifier: MIT
// What every backend offers to the session: a plan in, a launched process out.
#pragma once

#include <sys/types.h>

#include <map>
#include <string>
#include <vector>

#include "base/file.h"
#include "inner/limits.h"
#include "inner/signals.h"
#include "network/netns/set_up.h"

namespace backends {

// What of the caller's own process must reach the command as it was, although the launcher changes it for
// itself.
struct Caller {
    inner::SignalState signals;
    uint64_t open_files = 0;  // soft limit of descriptors
    std::vector<inner::ResourceLimit> limits;
    int cgroup = -1;              // cgroup.procs of the group that the jail is to live in, where there is one
    int terminal = -1;            // the controlling terminal, where there is one
    bool takes_terminal = false;  // the command is to start in its foreground
    // Namespaces that the jail is to be made in, to be entered in this order: of a job whose jails share the
    // System V objects that ranks find each other by. The jail then has no ipc namespace of its own.
    std::vector<int> namespaces;
    std::map<std::string, std::string> sockets;  // of helpers: name and path on the host
    // Where a backend hands connections to the gateway one by one (plan/backend.h): the socket for that.
    int door = -1;
    // Where a backend sets up the jail's network itself: what is wanted of it, and the socket for what comes
    // of that. Without listeners nothing but the loopback device is raised.
    network::netns::Wanted network = {.has_listeners = false};
    int listeners = -1;
};

// A started jail. The process is our child and dies with us; unless it is killed itself, the jail is gone
// when it ends.
struct Launched {
    pid_t process = -1;
    base::Fd control;      // socket to the inner stage (inner/messages.h)
    base::Fd diagnostics;  // what the backend's own program wrote to its standard error
    base::Fd information;  // tells which process is in the jail's namespaces, where somebody has to know
};

}  // namespace backends
