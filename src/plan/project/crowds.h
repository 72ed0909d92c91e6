// SPDX-License-Identifier: MIT
// Each masked file and each protected repository costs mounts, and a jail can create thousands of them for
// the next session. Above a bound, whole directories are closed instead. Pure.
#pragma once

#include <string_view>
#include <vector>

#include "base/backend.h"
#include "base/path.h"

namespace plan {

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

}  // namespace plan
