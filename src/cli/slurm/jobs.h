// SPDX-License-Identifier: MIT
// Slurm jobs of the user: what a job inherits from its run, submission, and the log of requests.
#pragma once

#include <string>
#include <vector>

#include "cli/context.h"
#include "cli/verbs.h"
#include "session/session.h"

namespace cli {

// The part of a run that its Slurm jobs inherit.

session::Jobs jobs_of(const Planned& planned, const Caller& caller, const Arguments& arguments,
                      const std::string& session);

// The options of this command line, in a form that the program parses to the same options again.
std::vector<std::string> options_of(const Arguments& arguments);

// The variables that are settings, unchanged.
std::vector<std::string> setting_variables(const std::vector<std::string>& environment);

// `agent-sandbox sbatch …` and `agent-sandbox srun …`: submit the user's own job with any option. Its command
// runs in a jail on the node.

// Whether the words are such a command. Inside a jail the Slurm stubs handle them.
bool is_own_job(const Caller& caller, const std::vector<std::string>& command);

// Executes Slurm's command; returns only if that fails.
int submit_own_job(const Invocation& call);

}  // namespace cli
