// SPDX-License-Identifier: MIT
// Slurm's patterns in the names of a job's files (filename pattern of sbatch(1) and srun(1)), filled in
// inside the jail, where a name can only lead to what the jail shows.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace slurm {

// "slurm-%A_%a.out" with the facts in the job's environment; relative names count from `directory`.
std::string expand_pattern(std::string_view pattern, const std::vector<std::string>& environment,
                           std::string_view directory);

// What Slurm calls a batch job's file where nobody said.
inline constexpr std::string_view kDefaultOutput = "slurm-%j.out";
inline constexpr std::string_view kDefaultArrayOutput = "slurm-%A_%a.out";

// The value of a variable of `environment`, or empty.
std::string_view value_of(const std::vector<std::string>& environment, std::string_view name);

}  // namespace slurm
