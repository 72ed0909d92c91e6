// SPDX-License-Identifier: MIT
// The batch script of sbatch. It is searched and read as sbatch does, but inside the jail.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "slurm/options/denial.h"

namespace slurm::client {

struct Script {
    std::optional<std::string> text;  // nothing: the command line needs no script
    std::string problem;              // sbatch's message about a file that it cannot read; may be empty
    std::optional<Denial> denial;
};

Script read_script(std::span<const std::string> arguments);

// The paths where a script of this name may be, in sbatch's order.
std::vector<std::string> script_places(std::string_view name, std::string_view search_path);

}  // namespace slurm::client
