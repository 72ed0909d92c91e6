// SPDX-License-Identifier: MIT
// Where git keeps what belongs to a working tree. Everything in a working tree is the project's to write, the
// ".git" file of a worktree or submodule too: a directory that it names counts only if that directory names
// the working tree in return, which the project can't forge.
#pragma once

#include <optional>
#include <vector>

#include "base/path.h"
#include "host/tree.h"

namespace plan {

struct GitPlaces {
    std::optional<base::Path> link;  // the ".git" file, where it is one
    base::Path directory;            // of this working tree: .git, .git/worktrees/NAME or .git/modules/NAME
    base::Path common;  // with objects, refs, hooks and config; equal to `directory` but for worktrees
    std::vector<base::Path> submodules;  // repositories under common/modules, and those of linked worktrees
    std::vector<base::Path> worktrees;   // common/worktrees/*
    // False: there are more, or a symbolic link leads to them.
    bool has_all_submodules = true;
    bool has_all_worktrees = true;
};

// Nothing where `working_tree` has no ".git", or one that does not check.
std::optional<GitPlaces> find_git(const host::Tree& tree, const base::Path& working_tree);

// core.worktree of a repository's configuration, which leads back to its working tree.
std::optional<base::Path> working_tree_of(const host::Tree& tree, const base::Path& repository);

}  // namespace plan
