// SPDX-License-Identifier: MIT
// The plan's backend, by its name.
#pragma once

#include <string_view>

#include "backends/backend.h"
#include "base/result.h"
#include "host/facts.h"
#include "plan/plan.h"

namespace session {

base::Result<backends::Launched> launch(const plan::Plan& plan, const host::Facts& facts,
                                        const backends::Caller& caller);

// What the backend's own program said when it could not build the jail, as one line that a user can act on.
base::Error diagnose(std::string_view backend, std::string_view standard_error);

// Who sets up the jail's network namespace: the child that builds the jail, or somebody from outside.
bool sets_up_network(std::string_view backend);

}  // namespace session
