// SPDX-License-Identifier: MIT
#include "plan/project/crowds.h"

#include <algorithm>
#include <map>

#include "base/backend.h"

namespace plan {
namespace {

// The directory directly below the project that contains the path; the path itself if the project contains it
// directly.
base::Path top_of(const base::Path& project, const base::Path& path) {
    std::string_view relative = path.relative_to(project);
    return project / relative.substr(0, relative.find('/'));
}

}  // namespace

size_t most_covered_singly(base::Backend backend) {
    return backend == base::Backend::native ? 3000 : 1000;
}

// Two mounts each: the ".git" and the directory that holds it.
size_t most_repositories(base::Backend backend) {
    return most_covered_singly(backend) / 2;
}

Crowds find_crowds(const base::Path& project, std::vector<base::Path> paths, size_t most) {
    Crowds crowds;
    if (paths.size() <= most) {
        crowds.single = std::move(paths);
        return crowds;
    }
    std::map<base::Path, size_t> held;
    for (const base::Path& path : paths) ++held[top_of(project, path)];
    for (const auto& [directory, count] : held) {
        if (count > 1) crowds.directories.push_back({directory, count});
    }
    std::ranges::stable_sort(crowds.directories, std::ranges::greater(), &Crowds::Directory::held);
    size_t left = paths.size();
    auto end = crowds.directories.begin();
    while (left > most && end != crowds.directories.end()) left -= end++->held;
    crowds.directories.erase(end, crowds.directories.end());
    for (base::Path& path : paths) {
        bool is_held = std::ranges::any_of(
            crowds.directories, [&](const Crowds::Directory& one) { return path.is_within(one.path); });
        if (!is_held) crowds.single.push_back(std::move(path));
    }
    return crowds;
}

}  // namespace plan
