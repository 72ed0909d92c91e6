// SPDX-License-Identifier: MIT
// The search of a project at launch: files to mask, and nested repositories whose hooks must be protected. It
// checks known paths first, then walks breadth first, and a time limit may end the walk. The guard searches
// the rest while the session runs (session/search/project_walk.h).
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/backend.h"
#include "base/path.h"
#include "config/value.h"
#include "host/tree.h"
#include "plan/plan.h"

namespace plan {

// What the search of a project looks for. The launch and the guard that continues while
// the session runs (session/search/project_walk.h) use the same functions. Pure.

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

// Each masked file and each protected repository costs mounts, and a jail can create thousands of them for
// the next session. Above a bound, whole directories are closed instead. Pure.

// How many findings a backend covers one by one. bubblewrap accepts 9,000 arguments, three for each mount.
size_t most_covered_singly(base::Backend backend);
// Repositories that are protected part by part, so that git can write in them: eight mounts each. In the
// others the whole ".git" is read-only.
inline constexpr size_t kMostRepositoriesByPart = 64;
size_t most_repositories(base::Backend backend);

struct Crowds {
    struct Directory {
        base::Path path;
        size_t held = 0;  // how many of the paths are in it
    };
    std::vector<Directory> directories;  // directly below `project`, the most crowded first
    std::vector<base::Path> single;      // paths outside of them
};

// Chooses as few directories as possible so that at most `most` paths stay single. More stay single only
// where no directory contains two of them.
Crowds find_crowds(const base::Path& project, std::vector<base::Path> paths, size_t most);

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
