// SPDX-License-Identifier: MIT
// What the search of a project looks for. The launch (project_search.h) and the guard that continues while
// the session runs (session/search/project_walk.h) use the same functions. Pure.
#pragma once

#include <cstddef>
#include <string_view>

#include "config/value.h"
#include "plan/plan.h"

namespace plan {

enum class TreeKind {
    ordinary,
    output,    // made by a build tool: left to the guard, which does not protect repositories in it
    packages,  // made by a package manager from a registry: not searched
    git,       // a repository: protected (git_places.h), not searched
};
TreeKind kind_of_tree(std::string_view name);

// Directories below the project, and bytes of a path: anything deeper is closed instead of searched.
inline constexpr size_t kDeepestSearched = 128;
inline constexpr size_t kLongestSearched = 3000;

// The entry of project.mask that matches this file or directory; null where none matches, or where
// project.unmask lifts it. `relative` is relative to the project.
const config::Item* masking_entry(const policy::Items& mask, const policy::Items& unmask,
                                  std::string_view relative, std::string_view name);

}  // namespace plan
