// SPDX-License-Identifier: MIT
// The project of a session that starts below the top of a git repository: the current directory, or with
// project.root = "repository" the top. A line reports which of them it is and names the setting.
#pragma once

#include <optional>

#include "base/path.h"
#include "cli/context.h"
#include "host/tree.h"

namespace cli {

// The top of the repository that `directory` is strictly within, as git would find it; nothing if the
// directory is a top itself. `ceilings` is the value of GIT_CEILING_DIRECTORIES.
std::optional<base::Path> repository_above(const host::Tree& disk, const base::Path& directory,
                                           std::string_view ceilings);

// Changes the project of the workspace, or sets its line, if the current directory is below a top.
void choose_root(Workspace& workspace, const Caller& caller, const Arguments& arguments);

}  // namespace cli
