// SPDX-License-Identifier: MIT
// Environment variables that the clients take for options: SBATCH_PARTITION, SLURM_NTASKS, SQUEUE_FORMAT … .
// The command line beats them, and they beat the directives of a script. A variable of a refused option is
// refused like the option.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "slurm/options/parse.h"

namespace slurm {

struct FromVariables {
    // Each variable that is set, as the option that it stands for, in the order in which Slurm reads them. A
    // directive for one of these is to be dropped: on a real command line it would beat the variable.
    std::vector<Given> options;
    // Those of passed options under their own names ("NAME=value"): a client that gets them as variables
    // keeps its own rules about what beats what (a variable never contradicts an option, it gives way).
    std::vector<std::string> environment;
};

// `environment` has "NAME=value" strings, as execve takes them.
std::variant<FromVariables, Denial> options_from_variables(const Command& command,
                                                           std::span<const std::string> environment);

}  // namespace slurm
