// SPDX-License-Identifier: MIT
// What a session was refused of late, from the end of its record (docs/audit.md).
#pragma once

#include <string>
#include <vector>

#include "base/json.h"

namespace monitor {

// Newest first. `record` is the first part of it; the newest is read. A record that can't be read has none.
std::vector<base::Json> recent_refusals(const std::string& record, size_t most);

}  // namespace monitor
