// SPDX-License-Identifier: MIT
// The recent refusals of a session, from the end of its record (docs/records.md).
#pragma once

#include <string>
#include <vector>

#include "base/encoding/json.h"

namespace monitor {

// Newest first. `record` is the path of its first part; the newest part is read. Empty if it can't be read.
std::vector<base::Json> recent_refusals(const std::string& record, size_t most);

}  // namespace monitor
