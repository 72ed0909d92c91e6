// SPDX-License-Identifier: MIT
// The start and the end of a copy-on-write session: what is in its layer, and what happens to it.
#pragma once

#include "cli/context.h"
#include "cli/verbs.h"

namespace cli {

// Names an apply in this project that was interrupted, and layers that have waited for long.
void begin_layer(const Invocation& call, const Planned& planned);

// After every process of the jail is dead. Removes a layer without changes.
void end_layer(const Invocation& call, const Planned& planned);

}  // namespace cli
