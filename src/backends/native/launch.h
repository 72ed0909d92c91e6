// SPDX-License-Identifier: MIT
// Builds the jail of a plan with only the kernel: no program is run, and the child that builds it becomes the
// inner stage.
#pragma once

#include <string_view>

#include "backends/backend.h"
#include "base/result.h"
#include "host/facts.h"
#include "plan/plan.h"

namespace backends::native {

// If the plan's network needs a gateway, the jail waits, built and confined, for the ready message; it sends
// the gateway's listeners through Caller::listeners.
base::Result<Launched> launch(const plan::Plan& plan, const host::Facts& facts, const Caller& caller);

// Turns the child's message (script.h) into one line that a user can act on.
base::Error diagnose(std::string_view said);

}  // namespace backends::native
