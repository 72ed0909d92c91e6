// SPDX-License-Identifier: MIT
// A job on its node: its variables, and the patterns in the names of its files.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace slurm {

// Slurm's patterns in the names of a job's files (filename pattern of sbatch(1) and srun(1)). They are
// expanded inside the jail, where a name reaches only files that the jail shows.

// "slurm-%A_%a.out" with values from the job's environment. Relative names are relative to `directory`.
std::string expand_pattern(std::string_view pattern, const std::vector<std::string>& environment,
                           std::string_view directory);

// Slurm's default name for a batch job's file.
inline constexpr std::string_view kDefaultOutput = "slurm-%j.out";
inline constexpr std::string_view kDefaultArrayOutput = "slurm-%A_%a.out";

// The value of a variable of `environment`, or empty.
std::string_view value_of(const std::vector<std::string>& environment, std::string_view name);

// The variables of a job: those of the agent at submission override those that the job's own jail and Slurm
// set on the node.

// The variables that --export selects: ALL, NONE, NIL, names, NAME=value, separated by commas. Never a
// variable that only the node can set. `of_jail` are the entries that the session's jail set for itself:
// a job's jail sets its own.
std::vector<std::string> exported(const std::vector<std::string>& environment, std::string_view choice,
                                  std::span<const std::string> of_jail = {});

// The same with --export-file. The stub reads the file inside the jail, and sends each of its entries in an
// entry of this name: the content is judged like an assignment in --export.
inline constexpr std::string_view kFromFile = "AGENT_SANDBOX_EXPORT_FILE=";
std::vector<std::string> exported_with_file(const std::vector<std::string>& environment,
                                            std::string_view choice,
                                            std::span<const std::string> of_jail = {});

// `chosen` overrides `given`, except for variables that only the node can set.
std::vector<std::string> laid_over(const std::vector<std::string>& given,
                                   const std::vector<std::string>& chosen);

// Whether a variable's value is valid on its node alone: the job's ids, its devices.
bool belongs_to_node(std::string_view name);
// Whether each jail sets it for itself: the temporary directory, the proxy.
bool is_set_by_jail(std::string_view name);

}  // namespace slurm
