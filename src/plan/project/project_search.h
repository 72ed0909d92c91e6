// SPDX-License-Identifier: MIT
// The search of a project at launch: files to mask, and nested repositories whose hooks must be protected. It
// checks known paths first, then walks breadth first, and a time limit may end the walk. The guard searches
// the rest while the session runs (session/search/project_walk.h).
#pragma once

#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/path.h"
#include "host/tree.h"
#include "plan/plan.h"

namespace plan {

struct Found {
    std::vector<std::pair<base::Path, config::Item>> masked;  // with the entry of project.mask that matched
    std::vector<base::Path>
        nested_repositories;                  // working trees below the project with a ".git" of their own
    std::vector<base::Path> unlisted;         // directories that the caller has no permission to list
    std::vector<base::Path> without_entries;  // directories in which the search saw nothing
    std::vector<base::Path> too_deep;         // directories below which nothing is searched
    bool is_complete = true;                  // false: the time limit ended the walk
};

struct SearchBounds {
    std::function<bool()> is_over = {};  // called often; empty: never
    bool has_guard = true;               // the guard searches the outputs of build tools
};

// `known`: paths that an earlier session found, relative to the project. Each is checked again.
Found search_project(const host::Tree& tree, const base::Path& project, const Search& rules,
                     std::span<const std::string> known, const SearchBounds& bounds);

}  // namespace plan
