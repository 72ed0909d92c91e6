// SPDX-License-Identifier: MIT
// Starts a jail without any program but our own and without a single namespace: for hosts that have neither
// bubblewrap nor firejail. The stage (src/inner) is executed straight away; Landlock, the filter of system
// calls and the doorman stand around the command it starts.
#pragma once

#include <string_view>

#include "backends/backend.h"
#include "base/result.h"
#include "doorman/orders.h"
#include "host/facts.h"
#include "landlock/wall.h"
#include "plan/plan.h"

namespace backends::landlock {

base::Result<Launched> launch(const plan::Plan& plan, const host::Facts& facts, const Caller& caller);

// What the stage said when it could not even tell the supervisor.
base::Error diagnose(std::string_view standard_error);

// ---- What the plan means here, for tests

::landlock::Wall wall_of(const plan::Plan& plan);
// `abi` is the kernel's version of Landlock: what an old one leaves open is asked for.
doorman::Orders doorman_of(const plan::Plan& plan, const Caller& caller, int abi);

}  // namespace backends::landlock
