// SPDX-License-Identifier: MIT
// Removes information from answers about nodes and the cluster: the names of other users, and lines of the
// configuration that lead to secrets. Pure, line by line.
#pragma once

#include <string>
#include <string_view>

namespace slurm::queries {

// Replaces a user's name.
inline constexpr std::string_view kSomebody = "-";

// Masks "root(0)" and "root". The user's own name and values that are not names stay.
std::string masked_user(std::string_view shown, std::string_view own);

// For nodes: the author of a reason, "Reason=bad disk [root@2026-…]", and the node's exclusive user,
// "Owner=".
std::string masked_node(std::string_view line, std::string_view own);

// For reservations: "Users=".
std::string masked_reservation(std::string_view line, std::string_view own);

// Empty for a line whose key is a secret or leads to one: "AuthInfo = socket=…".
std::string masked_configuration(std::string_view line);

}  // namespace slurm::queries
