// SPDX-License-Identifier: MIT
// The policy of a running session made anew: the same command line and variables, the files as they are now,
// and what its user has changed since.
#pragma once

#include <string>

#include "cli/context.h"
#include "cli/verbs.h"
#include "session/live_rules.h"

namespace cli {

// `planned` is what the session was started with. Both must outlive the result.
session::Replan replan_of(const Invocation& call, const std::string& session, const Planned& planned);

}  // namespace cli
