// SPDX-License-Identifier: MIT
// The parts of the manual that are made from the tables, in the form of scdoc: scripts/manual puts them in
// the place of the marks in docs/man.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace cli {

// "verbs", "options", "topics" or "settings".
base::Result<std::string> manual_part(std::string_view name);

}  // namespace cli
