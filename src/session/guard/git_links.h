// SPDX-License-Identifier: MIT
// Symbolic links that a session left in the repositories of its project. Git outside writes through them:
// `git commit` writes COMMIT_EDITMSG and appends to logs/HEAD, `git fetch` writes FETCH_HEAD. They are moved
// out of the project when the session ends.
#pragma once

#include <ctime>
#include <string>
#include <vector>

#include "backends/covers.h"
#include "base/path.h"
#include "session/control/set_aside.h"

namespace session {

struct GitLinkSearch {
    int project = -1;                // its directory, open
    base::Path path;                 // of the project, as the user knows it
    struct timespec since = {};      // the start of the session
    std::vector<base::Path> others;  // git_directories()
    std::string state_directory, session;
};

// Directories of repositories that the plan protects, and that may be anywhere.
std::vector<base::Path> git_directories(const std::vector<backends::Cover>& covers);

// The jail is dead. Moves the links in these directories and in .git of the project that were made since then
// and lead out of their repository.
std::vector<MovedName> move_git_links(const GitLinkSearch& search);

}  // namespace session
