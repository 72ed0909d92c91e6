// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace cli {

// The control level of each backend and the attacks that it does not prevent, as Markdown. For `help
// backends` and the tables of docs/security.md.
std::string backends_page();

}  // namespace cli
