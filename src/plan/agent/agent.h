// SPDX-License-Identifier: MIT
// Shared by the files that prepare an agent's state.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/path.h"

namespace plan {

struct Draft;

// The directory of the sandbox's own copies for an agent: one for each project with agents.per_project_state.
base::Path agent_directory(const Draft& draft, std::string_view agent);

// Content for a placeholder file that changes nothing for a program that reads it; nothing for a directory.
std::optional<std::string> neutral_content(const base::Path& path);

}  // namespace plan
