// SPDX-License-Identifier: MIT
// The process beside the jail through which all that leaves it goes: from the namespace that has just been
// made to the last byte.
#pragma once

#include <sys/types.h>

#include "base/file.h"
#include "network/rules/egress.h"

namespace network::gateway {

struct Surroundings {
    pid_t jailed = -1;  // a process in the jail's network namespace
    base::Fd journal;   // opened for appending; none: nothing is recorded
    base::Fd control;   // to the supervisor (messages.h)
};

// Runs until the supervisor says that the jail has ended, or is gone itself. The exit status of the process.
int run(const Egress& egress, Surroundings surroundings);

// Where the namespace can't even be looked for: tells the supervisor why.
int give_up(int control, const base::Error& error);

}  // namespace network::gateway
