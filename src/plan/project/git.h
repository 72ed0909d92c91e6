// SPDX-License-Identifier: MIT
// Git as the plan sees it: configurations, and where git stores what belongs to a working tree.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/path.h"
#include "config/data.h"
#include "host/tree.h"

namespace plan {

// With this file in it, and "commondir" or "objects" and "refs", a directory is a repository without ".git".
// Git looks for one where ".git" is missing or broken, and the jail can break it.
inline constexpr std::string_view kBareHead = "HEAD";

// The text of a git configuration as a list of assignments. Lenient: it skips what git itself would refuse,
// because only the choice of what to protect depends on it.

struct GitSetting {
    std::string key;  // "core.hookspath", "filter.lfs.clean": lower case except the middle part
    std::string value;
};

std::vector<GitSetting> parse_git_config(std::string_view text);

// The row of share/review/git_keys.list that applies to this setting: git would run a program for it, or read
// configuration from another file. Null: the setting is harmless.
const config::DataRow* program_row(const GitSetting& setting);

// A configuration file with the same settings.
std::string git_config_text(const std::vector<GitSetting>& settings);

// Where git stores what belongs to a working tree. The project can write everything in its working tree,
// including the ".git" file of a worktree or submodule. So a directory that this file names counts only if
// that directory names the working tree in return, which the project can't forge.

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

// Nothing where `working_tree` has no ".git", or one that fails the check. A file ".git" may lead to any
// repository in `open`, which the session can read and write anyway (git init --separate-git-dir).
std::optional<GitPlaces> find_git(const host::Tree& tree, const base::Path& working_tree,
                                  const base::Path* open = nullptr);

// core.worktree of a repository's configuration: the path of its working tree.
std::optional<base::Path> working_tree_of(const host::Tree& tree, const base::Path& repository);

}  // namespace plan
