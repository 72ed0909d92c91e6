// SPDX-License-Identifier: MIT
// The process beside the jail through which all that leaves it goes: from the namespace that has just been
// made to the last byte.
#pragma once

#include <functional>

#include "audit/writer.h"
#include "base/file.h"
#include "network/netns/set_up.h"
#include "network/rules/egress.h"

namespace network::gateway {

struct Surroundings {
    // Waits for the jail's network namespace and brings its listeners.
    std::function<base::Result<netns::Listeners>(const netns::Wanted&)> await_listeners;
    audit::Writer record;  // without a file: nothing is recorded
    base::Fd control;      // to the supervisor (messages.h)
    // Where the inner stage hands connections over (handed_door.h). There is no namespace to set up then, and
    // nobody is waited for.
    base::Fd handed;
};

// What the jail's network namespace must offer for these rules.
netns::Wanted wanted_of(const Egress& egress);

// Runs until the supervisor says that the jail has ended, or is gone itself. The exit status of the process.
int run(const Egress& egress, Surroundings surroundings);

}  // namespace network::gateway
