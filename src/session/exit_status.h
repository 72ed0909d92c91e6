// SPDX-License-Identifier: MIT
// Translates the outcome of a run into the exit code and reason for the caller.
#pragma once

#include "base/result.h"
#include "plan/plan.h"
#include "session/session.h"
#include "session/supervise.h"

namespace session {

base::Result<Ending> conclude(const plan::Plan& plan, const Outcome& outcome);

}  // namespace session
