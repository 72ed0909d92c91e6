// SPDX-License-Identifier: MIT
// What the parts that prepare an agent's place share.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/path.h"

namespace plan {

struct Draft;

// Where the sandbox keeps its own copies for an agent; of this project, where projects are kept apart.
base::Path agent_directory(const Draft& draft, std::string_view agent);

// The content of a file that changes nothing for a program that reads it; nothing: the name is a directory's.
std::optional<std::string> neutral_content(const base::Path& path);

}  // namespace plan
