// SPDX-License-Identifier: MIT
// `agent-sandbox sbatch …` and `agent-sandbox srun …`: submit the user's own job with any option. Its command
// runs in a jail on the node.
#pragma once

#include <string>
#include <vector>

#include "cli/verbs.h"

namespace cli {

// Whether the words are such a command. Inside a jail the Slurm stubs handle them.
bool is_own_job(const Caller& caller, const std::vector<std::string>& command);

// Executes Slurm's command; returns only if that fails.
int submit_own_job(const Invocation& call);

}  // namespace cli
