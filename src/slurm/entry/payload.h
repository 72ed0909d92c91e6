// SPDX-License-Identifier: MIT
// The first process of a job or a step inside its jail: what Slurm's own step manager would do outside, with
// names that the agent chose, is done here, where a name leads only to what the jail shows. It opens the
// job's files, goes to its directory, takes its environment and becomes its command.
#pragma once

#include <string_view>

namespace slurm {

inline constexpr std::string_view kPayloadRole = "slurm-payload";

// Returns only when the command could not be started, with the exit code that Slurm's own would have.
int run_payload();

}  // namespace slurm
