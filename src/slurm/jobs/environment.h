// SPDX-License-Identifier: MIT
// The variables of a job: those that the agent had when it submitted it, over those that the job's own jail
// and Slurm on the node give.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace slurm {

// What --export lets go along: ALL, NONE, NIL, names, NAME=value, separated by commas. Never a variable that
// only the node can know.
std::vector<std::string> exported(const std::vector<std::string>& environment, std::string_view choice);

// `chosen` over `given`, except where only the node can know.
std::vector<std::string> laid_over(const std::vector<std::string>& given,
                                   const std::vector<std::string>& chosen);

// Whether a variable says something that is true on its node alone: the job's numbers, the devices it was
// given, the way out of its jail.
bool belongs_to_node(std::string_view name);

}  // namespace slurm
