// SPDX-License-Identifier: MIT
// Prints at the end of a session what the search of the project found after the start.
#pragma once

#include "cli/context.h"
#include "cli/output.h"
#include "session/session.h"

namespace cli {

void tell_search(const Output& output, const session::SearchProgress::Report& search, const Planned& planned);

}  // namespace cli
