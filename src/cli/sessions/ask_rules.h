// SPDX-License-Identifier: MIT
// Which questions of an agent reach its user, and where an approval is written. Nothing that is protected,
// and nothing that the administrator closes, can be asked for.
#pragma once

#include <string>

#include "cli/context.h"
#include "cli/verbs.h"
#include "session/asks/asks.h"

namespace cli {

// `planned` is the plan of the session's start. Both references must outlive the result. Its functions run in
// forked processes.
session::AskRules ask_rules_of(const Invocation& call, const std::string& session, const Planned& planned);

}  // namespace cli
