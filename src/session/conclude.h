// SPDX-License-Identifier: MIT
// What a run's outcome means for the caller.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "session/session.h"
#include "session/supervise.h"

namespace session {

base::Result<Ending> conclude(const std::vector<std::string>& command, const Outcome& outcome);

}  // namespace session
