// SPDX-License-Identifier: MIT
// Slurm's patterns in the names of a job's files (filename pattern of sbatch(1) and srun(1)). They are
// expanded inside the jail, where a name reaches only files that the jail shows.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace slurm {

// "slurm-%A_%a.out" with values from the job's environment. Relative names are relative to `directory`.
std::string expand_pattern(std::string_view pattern, const std::vector<std::string>& environment,
                           std::string_view directory);

// Slurm's default name for a batch job's file.
inline constexpr std::string_view kDefaultOutput = "slurm-%j.out";
inline constexpr std::string_view kDefaultArrayOutput = "slurm-%A_%a.out";

// The value of a variable of `environment`, or empty.
std::string_view value_of(const std::vector<std::string>& environment, std::string_view name);

}  // namespace slurm
