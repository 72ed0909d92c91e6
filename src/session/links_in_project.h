// SPDX-License-Identifier: MIT
// Where a symbolic link of the project leads, as far as it stays in the project.
#pragma once

#include <optional>

#include "base/path.h"

namespace session {

// Without a link on the way; nothing where the link leads out of the project or nowhere.
std::optional<base::Path> end_of_link(const base::Path& project, const base::Path& link);

}  // namespace session
