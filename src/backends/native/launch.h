// SPDX-License-Identifier: MIT
// Builds the jail that a plan describes with nothing but the kernel: no program is run, and the child that
// builds it goes on as the inner stage.
#pragma once

#include <string_view>

#include "backends/backend.h"
#include "base/result.h"
#include "host/facts.h"
#include "plan/plan.h"

namespace backends::native {

// A plan whose network needs a gateway waits, built and confined, for the word to start; what the gateway
// listens with goes out through Caller::listeners.
base::Result<Launched> launch(const plan::Plan& plan, const host::Facts& facts, const Caller& caller);

// What the child said (failure.h), as one line that a user can act on.
base::Error diagnose(std::string_view said);

}  // namespace backends::native
