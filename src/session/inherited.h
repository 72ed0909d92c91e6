// SPDX-License-Identifier: MIT
#pragma once

#include "base/result.h"
#include "plan/plan.h"

namespace session {

// Fails if a descriptor that the command inherits leads out of the jail.
base::Status check_inherited(const plan::Plan& plan);

}  // namespace session
