// SPDX-License-Identifier: MIT
// Which files git tracks, from an index (".git/index", versions 2 to 4). A jail can write this file, so it
// decides about a message and about no protection.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "host/tree.h"
#include "plan/plan.h"

namespace plan {

using TrackedPaths = std::set<std::string, std::less<>>;

// Those of `wanted` that the index has, relative to the working tree. Empty if the text is malformed.
TrackedPaths tracked_among(std::string_view index, const TrackedPaths& wanted);

// The masked files that git tracks, relative to the project. git in the jail finds them changed.
std::vector<std::string> tracked_masks(const Plan& plan, const host::Tree& tree);

}  // namespace plan
