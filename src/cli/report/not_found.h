// SPDX-License-Identifier: MIT
// A new user often runs a command that exists outside but not in the jail: print where it is and which flag
// would show it.
#pragma once

#include "base/result.h"
#include "cli/context.h"

namespace cli {

// Advice for a command that is not in PATH, neither in the jail nor outside.
std::string hint_for_nothing(const std::string& word, const Caller& caller);

// Adds advice to `error` if it reports that the command was not found; else returns it unchanged.
base::Error with_hint(base::Error error, const Planned& planned, const Caller& caller);

}  // namespace cli
