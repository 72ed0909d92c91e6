// SPDX-License-Identifier: MIT
// Starts bubblewrap with a plan. Its environment is empty: a library path that points into the project would
// run the project's code outside the jail. Its arguments are in a memory file, so that a thousand rules do
// not cause E2BIG. It inherits only the descriptors that it needs.
#pragma once

#include <string_view>

#include "backends/backend.h"
#include "base/result.h"
#include "host/facts.h"
#include "plan/plan.h"

namespace backends::bubblewrap {

// If the plan's network needs a gateway, the jail waits, built and confined, for the ready message.
// bubblewrap writes to Launched::information which process is in its namespaces.
base::Result<Launched> launch(const plan::Plan& plan, const host::Facts& facts, const Caller& caller);

// Reads that: waits until bubblewrap has made the namespaces. An error, kNoJail, if it ended before.
inline constexpr std::string_view kNoJail = "bubblewrap ended before it had made the jail";
base::Result<pid_t> jailed_process(int information);

// Limits the inotify instances and watches of a built jail (watch_limits_after_clone.h), before its command
// runs. bubblewrap itself can't.
void limit_watches_of(const base::Fd& mount_namespace);

// Turns bubblewrap's error output into one line that a user can act on.

base::Error diagnose(std::string_view standard_error);

}  // namespace backends::bubblewrap
