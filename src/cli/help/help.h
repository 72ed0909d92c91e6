// SPDX-License-Identifier: MIT
// `help`, and the parts of the manual that are made from the same tables.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace cli {

// The parts of the manual that are made from the tables, as scdoc text. scripts/manual inserts them at the
// marks in docs/man.

// "verbs", "options", "topics" or "settings".
base::Result<std::string> manual_part(std::string_view name);

}  // namespace cli
