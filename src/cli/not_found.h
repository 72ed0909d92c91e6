// SPDX-License-Identifier: MIT
// A command that is not in the jail but is outside of it is the first thing a new user meets: say where it is
// and what would show it.
#pragma once

#include "base/result.h"
#include "cli/context.h"

namespace cli {

// What to do about a command that is nowhere in PATH, neither in the jail nor outside.
std::string hint_for_nothing(const std::string& word, const Caller& caller);

// `error` with advice added where it says that the command was not found; else as it is.
base::Error with_hint(base::Error error, const Planned& planned, const Caller& caller);

}  // namespace cli
