// SPDX-License-Identifier: MIT
// Lets git inside the jail remove a worktree that existed at the start of the session (`git worktree
// remove`). The file ".git" of the worktree and some files of its directory in the repository are mount
// points in the jail, which no process there can remove. The keeper removes them, together with the
// directory that contains them.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "backends/covers.h"
#include "base/path.h"
#include "doorman/doorman.h"

namespace session {

class WorktreeRemoval {
  public:
    // Before the command starts: finds the worktrees among the covered names.
    void find(const std::vector<backends::Cover>& covers);
    // Whether answer() decides about removals of this name.
    bool is_judged(std::string_view name, bool is_rmdir) const;
    doorman::Answer answer(const doorman::Removal& removal);
    struct Removed {
        base::Path path;
        bool is_tree = false;  // a working tree; otherwise a directory of the repository
    };
    // The directories that were removed since the last call.
    std::vector<Removed> take_removed();

  private:
    struct Worktree {
        base::Path tree;            // the working tree
        base::Path directory;       // in the repository: .git/worktrees/NAME
        std::set<std::string> own;  // covered names in that directory
        // What git has asked to remove, and what is removed.
        bool has_unlinked = false;
        bool is_tree_gone = false;
        std::set<std::string> unlinked;
        bool is_directory_gone = false;
    };
    doorman::Answer answer_unlink(Worktree& worktree, const doorman::Removal& removal);
    doorman::Answer answer_rmdir(Worktree& worktree, const doorman::Removal& removal);

    std::vector<Worktree> worktrees_;
    std::vector<Removed> removed_;
};

}  // namespace session
