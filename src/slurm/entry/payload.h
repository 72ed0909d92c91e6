// SPDX-License-Identifier: MIT
// The first process of a job or a step inside its jail. It does the work of Slurm's step manager with names
// that the agent chose. Here these names reach only files that the jail shows. It opens the job's files,
// changes to its directory, sets its environment and executes its command.
#pragma once

#include <string_view>

namespace slurm {

inline constexpr std::string_view kPayloadRole = "slurm-payload";

// Returns only if the command could not be started, with the exit code that Slurm would have.
int run_payload();

// The command that the real salloc runs for us, outside the jail. It sends the allocation's environment to
// the chaperon and runs as long as the user's command inside.

// Writes the environment to standard output, each variable ended by NUL and an empty one last. Waits until
// standard input ends, and returns its last byte as a number.
int run_hold();

}  // namespace slurm
