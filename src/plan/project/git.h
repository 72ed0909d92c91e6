// SPDX-License-Identifier: MIT
// Where git stores what belongs to a working tree. The project can write everything in its working tree,
// including the ".git" file of a worktree or submodule. So a directory that this file names counts only if
// that directory names the working tree in return, which the project can't forge.
#pragma once

#include <optional>
#include <vector>

#include "base/path.h"
#include "host/tree.h"

namespace plan {

struct GitPlaces {
    std::optional<base::Path> link;  // the ".git" file, where ".git" is a file
    base::Path directory;            // of this working tree: .git, .git/worktrees/NAME or .git/modules/NAME
    base::Path common;  // with objects, refs, hooks and config; equal to `directory` except for worktrees
    std::vector<base::Path> submodules;  // repositories under common/modules, and those of linked worktrees
    std::vector<base::Path> worktrees;   // common/worktrees/*
    // False: there are more than the bound, or one is a symbolic link.
    bool has_all_submodules = true;
    bool has_all_worktrees = true;
};

// Nothing where `working_tree` has no ".git", or one that fails the check.
std::optional<GitPlaces> find_git(const host::Tree& tree, const base::Path& working_tree);

// core.worktree of a repository's configuration: the path of its working tree.
std::optional<base::Path> working_tree_of(const host::Tree& tree, const base::Path& repository);

}  // namespace plan
