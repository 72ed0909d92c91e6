// SPDX-License-Identifier: MIT
// What is taken out of answers that are about nodes and the cluster: the names of other users, and lines of
// the configuration that lead to secrets. Pure, line by line.
#pragma once

#include <string>
#include <string_view>

namespace slurm::queries {

// What stands in the place of a name.
inline constexpr std::string_view kSomebody = "-";

// "root(0)" and "root" both are root. The user's own name and what is no name stay.
std::string masked_user(std::string_view shown, std::string_view own);

// Of nodes: who gave the reason, "Reason=bad disk [root@2026-…]", and who has the node for himself, "Owner=".
std::string masked_node(std::string_view line, std::string_view own);

// Of reservations: "Users=".
std::string masked_reservation(std::string_view line, std::string_view own);

// Empty for a line whose key names a secret or the way to one: "AuthInfo = socket=…".
std::string masked_configuration(std::string_view line);

}  // namespace slurm::queries
