// SPDX-License-Identifier: MIT
// What every helper beside the jail does first.
#pragma once

#include <sys/types.h>

#include <vector>

namespace session {

// In a fork of the supervisor. Afterwards neither the caller's terminal nor a kill of its process group
// reaches this process, it dies with the supervisor, and only the descriptors in `kept` are open. A process
// that answers for the terminal's size stays in the terminal's session.
enum class ProcessSession { own, of_terminal };
void step_aside(pid_t supervisor, const char* name, std::vector<int> kept,
                ProcessSession session = ProcessSession::own);

}  // namespace session
