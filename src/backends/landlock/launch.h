// SPDX-License-Identifier: MIT
// Starts a jail with only our own program and without any namespace, for hosts that have neither bubblewrap
// nor firejail. It executes the stage (src/inner) directly. Landlock, the seccomp filter and the doorman
// confine the command that the stage starts.
#pragma once

#include <string_view>

#include "backends/backend.h"
#include "base/result.h"
#include "doorman/answered_calls.h"
#include "host/facts.h"
#include "landlock/wall.h"
#include "plan/plan.h"

namespace backends::landlock {

base::Result<Launched> launch(const plan::Plan& plan, const host::Facts& facts, const Caller& caller);

// For a stage that failed before it could report to the supervisor: its error output.
base::Error diagnose(std::string_view standard_error);

// ---- What the plan means here, for tests

::landlock::Wall wall_of(const plan::Plan& plan);
// `abi` is the kernel's version of Landlock: the doorman guards what an old version leaves open.
doorman::AnsweredCalls doorman_of(const plan::Plan& plan, const Caller& caller, int abi);

}  // namespace backends::landlock
