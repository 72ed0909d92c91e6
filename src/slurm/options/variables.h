// SPDX-License-Identifier: MIT
// Environment variables that the clients read as options: SBATCH_PARTITION, SLURM_NTASKS, SQUEUE_FORMAT … .
// The command line overrides them, and they override the directives of a script. A variable of a refused
// option is refused like the option.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "slurm/options/parse.h"

namespace slurm {

struct FromVariables {
    // Each variable that is set, as its option, in the order in which Slurm reads them. Drop a directive for
    // one of these: on a real command line it would override the variable.
    std::vector<ParsedOption> options;
    // The variables of passed options, unchanged ("NAME=value"). The client then applies its own precedence:
    // a variable never contradicts an option, the option wins.
    std::vector<std::string> environment;
};

// `environment` has "NAME=value" strings, as for execve(2).
std::variant<FromVariables, Denial> options_from_variables(const Command& command,
                                                           std::span<const std::string> environment);

}  // namespace slurm
