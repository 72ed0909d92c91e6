// SPDX-License-Identifier: MIT
// Slurm in the jail. Inside there is no munge socket, no configuration and no command of Slurm's: this
// program stands under their names and asks the chaperon.
#pragma once

#include <string_view>

namespace plan {

// Where the jail finds the chaperon.
inline constexpr std::string_view kSlurmSocket = "/run/agent-sandbox/slurm";

}  // namespace plan
