// SPDX-License-Identifier: MIT
// `--detach` and `attach`: a session without a caller's terminal, and its connection to one.
#pragma once

#include <functional>

#include "cli/verbs.h"

namespace cli {

// Starts the session in a process of its own, which calls `run`; prints the session's id when its command
// runs. Returns the exit code of this process.
int run_detached(const Invocation& call, const std::function<int(const Invocation&)>& run);

}  // namespace cli
