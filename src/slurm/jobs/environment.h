// SPDX-License-Identifier: MIT
// The variables of a job: those of the agent at submission override those that the job's own jail and Slurm
// set on the node.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace slurm {

// The variables that --export selects: ALL, NONE, NIL, names, NAME=value, separated by commas. Never a
// variable that only the node can set.
std::vector<std::string> exported(const std::vector<std::string>& environment, std::string_view choice);

// `chosen` overrides `given`, except for variables that only the node can set.
std::vector<std::string> laid_over(const std::vector<std::string>& given,
                                   const std::vector<std::string>& chosen);

// Whether a variable's value is valid on its node alone: the job's ids, its devices, the jail's proxy.
bool belongs_to_node(std::string_view name);

}  // namespace slurm
