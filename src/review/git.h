// SPDX-License-Identifier: MIT
// What makes git run programs: in repositories that the session has made, in existing ones that were not
// protected, and in a plain directory that git would accept as a repository.
#pragma once

#include <string_view>
#include <vector>

#include "review/known.h"
#include "review/review.h"

namespace review {

// Decided by its content, not by its name: git started in such a directory uses it.
bool is_repository(const base::Path& directory);

// Whether git runs the program of this setting only for a command or a tool that the user asks for. Others
// run at a status, a commit, a checkout, a fetch, or when git shows something.
bool needs_request(std::string_view key);

void look_into_repository(const base::Path& repository, Known& known, std::vector<Finding>& findings);

// A ".git" file or symbolic link, which may lead git anywhere.
void look_at_link(const base::Path& link, const Session& session, Known& known,
                  std::vector<Finding>& findings);

// Files of the project that a setting of git's names as a program. The jail can't change the setting, but it
// can change the file: `core.fsmonitor = ./tools/watch` runs what a session has written there.

struct Configuration {
    base::Path file;
    base::Path working_tree;
    bool is_callers = false;  // no session could write it
};

// Adds the changed files that the words of this configuration name. A relative name is looked for in the
// project and in the working tree. Names that a shell would compute are not found.
void look_at_programs(const Configuration& configuration, const Session& session, Known& known,
                      std::vector<Finding>& findings);

}  // namespace review
