// SPDX-License-Identifier: MIT
// Files of the project that a setting of git's names as a program. The jail can't change the setting, but it
// can change the file: `core.fsmonitor = ./tools/watch` runs what a session has written there.
#pragma once

#include <vector>

#include "review/known.h"
#include "review/review.h"

namespace review {

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
