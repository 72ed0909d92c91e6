// SPDX-License-Identifier: MIT
// The repositories of a project: git works in them, and the jail can't change anything in them that makes git
// run programs. Threat: hooks, filters and other programs that git starts outside the jail later;
// tests/jail/git.bats.
#pragma once

#include <string_view>
#include <vector>

#include "plan/draft.h"
#include "plan/project/project_search.h"
#include "plan/project/protection.h"

namespace plan {

// An entry of project.protect inside ".git".
struct GitEntry {
    std::string_view relative;  // to ".git"
    Reason reason;
};

void add_git(Draft& draft, Protection& protection, const std::vector<GitEntry>& entries, const Found& found);

}  // namespace plan
