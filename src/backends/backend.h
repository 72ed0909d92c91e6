// SPDX-License-Identifier: MIT
// What every backend offers to the session: it takes a plan and returns a launched process.
#pragma once

#include <sys/types.h>

#include <map>
#include <string>
#include <vector>

#include "base/file.h"
#include "doorman/answered_calls.h"
#include "inner/command/limits.h"
#include "inner/command/signals.h"
#include "network/netns/set_up.h"

namespace backends {

// State of the caller's process that must reach the command unchanged, although the launcher changes it for
// itself.
struct Caller {
    inner::SignalState signals;
    uint64_t open_files = 0;  // soft limit of descriptors
    std::vector<inner::ResourceLimit> limits;
    int cgroup = -1;              // cgroup.procs of the jail's cgroup; -1: none
    int terminal = -1;            // the controlling terminal; -1: none
    bool takes_terminal = false;  // the command is to start in its foreground
    // Namespaces in which the jail is made, to be entered in this order: those of a job whose jails share the
    // System V objects by which ranks find each other. The jail then has no ipc namespace of its own.
    std::vector<int> namespaces;
    std::map<std::string, std::string> sockets;  // of helpers: name and path on the host
    // For a backend that passes connections to the gateway one by one (plan/backend.h): the socket for that.
    int handoff = -1;
    doorman::AnsweredCalls answers;  // for calls that a process outside the jail answers
    // For a backend that sets up the jail's network itself: what to set up, and the socket for the result.
    // Without listeners only the loopback device is brought up.
    network::netns::NetworkRequest network = {.has_listeners = false};
    int listeners = -1;
};

// A started jail. The process is our child and dies with us. When it ends, the jail is gone too, unless the
// process itself was killed.
struct Launched {
    pid_t process = -1;
    base::Fd control;      // socket to the inner stage (inner/messages.h)
    base::Fd diagnostics;  // what the backend's own program wrote to its standard error
    base::Fd information;  // names the process in the jail's namespaces, if the gateway has to enter them
};

}  // namespace backends
