// SPDX-License-Identifier: MIT
// Translates the outcome of a run into the exit code and reason for the caller.
#pragma once

#include "base/result.h"
#include "plan/plan.h"
#include "session/session.h"
#include "session/supervise.h"

namespace session {

// Why a command was not started.
base::Error start_error(const inner::Report& failure);

base::Result<Ending> conclude(const plan::Plan& plan, const Outcome& outcome);

}  // namespace session
