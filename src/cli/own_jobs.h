// SPDX-License-Identifier: MIT
// `agent-sandbox sbatch …` and `agent-sandbox srun …`: the user's own job, with any option, whose command
// runs in a jail on its node.
#pragma once

#include <string>
#include <vector>

#include "cli/verbs.h"

namespace cli {

// Whether these words ask for it. Inside a jail they are a stub's.
bool is_own_job(const Caller& caller, const std::vector<std::string>& command);

// Becomes Slurm's command; returns only where that was not possible.
int submit_own_job(const Invocation& call);

}  // namespace cli
