// SPDX-License-Identifier: MIT
// Which files git tracks, from an index (".git/index", versions 2 to 4), read as git reads it. A jail can
// write this file, so it decides about messages and about no protection.
#pragma once

#include <optional>
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

enum class ObjectHash { sha1, sha256 };

// Working trees of other repositories that the index has, such as submodules.
struct Gitlinks {
    std::vector<std::string> paths;
    std::string shared;  // "sharedindex." and these digits: a file with further entries; empty: none
};

// Nothing: git dies of it, or could read other entries than these.
std::optional<Gitlinks> gitlinks_in(std::string_view index, ObjectHash hash);

// The masked files that git tracks, relative to the project. git in the jail finds them changed.
std::vector<std::string> tracked_masks(const Plan& plan, const host::Tree& tree);

}  // namespace plan
