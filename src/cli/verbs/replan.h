// SPDX-License-Identifier: MIT
// Makes the policy of a running session again: from the same command line and variables, the current files,
// and the changes that the user made since the start.
#pragma once

#include <string>

#include "cli/context.h"
#include "cli/verbs.h"
#include "session/control/steering.h"

namespace cli {

// `planned` is the plan of the session's start. Both references must outlive the result.
session::Replan replan_of(const Invocation& call, const std::string& session, const Planned& planned);

}  // namespace cli
