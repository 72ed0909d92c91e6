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

// For a project below a layer. Names in the repository are not protected: they are held back when the layer
// is applied. A repository outside the project can be read.
void show_git_below_layer(Draft& draft);

void add_git(Draft& draft, Protection& protection, const std::vector<GitEntry>& entries, const Found& found);

}  // namespace plan
