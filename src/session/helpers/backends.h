// SPDX-License-Identifier: MIT
// Launches the jail with the backend that the plan names.
#pragma once

#include <string_view>

#include "backends/backend.h"
#include "base/backend.h"
#include "base/result.h"
#include "host/facts.h"
#include "plan/plan.h"

namespace session {

base::Result<backends::Launched> launch(const plan::Plan& plan, const host::Facts& facts,
                                        const backends::Caller& caller);

// Turns the error output of a backend's program that could not build the jail into one line that a user can
// act on.
base::Error diagnose(base::Backend backend, std::string_view standard_error);

// True: the child that builds the jail also sets up its network namespace. False: a process outside does.
bool sets_up_network(base::Backend backend);

// Limits the inotify instances and watches of a built jail, if the child that builds it does not. Without the
// jail's mount namespace nothing can be done.
void limit_watches(base::Backend backend, const base::Fd& mounts);

}  // namespace session
