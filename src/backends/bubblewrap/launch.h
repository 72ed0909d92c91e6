// SPDX-License-Identifier: MIT
// Starts bubblewrap with a plan. The environment of bubblewrap is empty (a library path that points into the
// project would run the project's code outside the jail), its arguments travel in a memory file (a thousand
// rules are no E2BIG), and it inherits no descriptor but those that it needs.
#pragma once

#include <string_view>

#include "backends/backend.h"
#include "base/result.h"
#include "host/facts.h"
#include "plan/plan.h"

namespace backends::bubblewrap {

// A plan whose network needs a gateway waits, built and confined, for the word to start, and says through
// Launched::information who is in its namespaces.
base::Result<Launched> launch(const plan::Plan& plan, const host::Facts& facts, const Caller& caller);

// Reads that: waits for bubblewrap to have made the namespaces. An error, kNoJail, when it ended before.
inline constexpr std::string_view kNoJail = "bubblewrap ended before it had made the jail";
base::Result<pid_t> jailed_process(int information);

}  // namespace backends::bubblewrap
