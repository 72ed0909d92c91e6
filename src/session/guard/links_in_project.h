// SPDX-License-Identifier: MIT
// Resolves a symbolic link of the project, as long as it stays in the project.
#pragma once

#include <optional>

#include "base/path.h"

namespace session {

// The result contains no link. Nothing if the link leads out of the project or to a missing file.
std::optional<base::Path> end_of_link(const base::Path& project, const base::Path& link);

}  // namespace session
