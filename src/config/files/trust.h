// SPDX-License-Identifier: MIT
// The trust store: the project files that the user has read and accepted, by canonical path and content
// digest. It is in the state directory, which no jail can see.
#pragma once

#include <string>

#include "base/path.h"
#include "base/result.h"
#include "config/files/sources.h"

namespace config {

inline constexpr std::string_view kProjectFileName = ".agent-sandbox.toml";

base::Result<bool> is_trusted(const Places& places, const base::Path& project, std::string_view digest);
base::Status trust(const Places& places, const base::Path& project, std::string_view digest);
// True if a record existed and was removed.
base::Result<bool> untrust(const Places& places, const base::Path& project);

}  // namespace config
