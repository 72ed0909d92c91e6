// SPDX-License-Identifier: MIT
// What every helper beside the jail does first.
#pragma once

#include <sys/types.h>

#include <vector>

namespace session {

// In a fork of the supervisor: neither the caller's terminal nor a kill of its group reaches this process, it
// ends with the supervisor, and of the open descriptors it has those that are kept.
void step_aside(pid_t supervisor, const char* name, std::vector<int> kept);

}  // namespace session
