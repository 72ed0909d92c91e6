// SPDX-License-Identifier: MIT
// The batch script of sbatch, found and read as sbatch does it, but inside the jail.
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
    std::optional<std::string> text;  // nothing: the command line asks for none
    std::string problem;              // what sbatch says of a file that it can't read; empty: none
    std::optional<Denial> denial;
};

Script read_script(std::span<const std::string> arguments);

// Where a script of this name may lie, in the order in which sbatch looks.
std::vector<std::string> script_places(std::string_view name, std::string_view search_path);

}  // namespace slurm::client
