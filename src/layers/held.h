// SPDX-License-Identifier: MIT
// Which changes of a layer are applied only if the user names them: those that a program outside would run,
// or that lead out of the project, without the user having looked at them.
#pragma once

#include <string>
#include <vector>

#include "layers/changes.h"

namespace layers {

struct HeldRules {
    struct Entry {
        std::string path;  // relative to the project, or to a directory of git; may have wildcards
        std::string why;
    };
    std::vector<Entry> names;      // protected names in the project
    std::vector<Entry> git_names;  // of every directory ".git"
    // Directories of the caller's PATH in the project, relative: as the PATH names them, and without links.
    std::vector<std::string> program_directories;
    std::vector<std::string> program_links;  // links in the project that lead to them
};

// Sets `held` of each change to which a rule applies.
void hold_back(const HeldRules& rules, const Sides& sides, std::vector<Change>& changes);

}  // namespace layers
