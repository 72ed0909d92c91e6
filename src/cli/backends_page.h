// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace cli {

// What each backend reaches and what it is known not to prevent, as Markdown: `help backends`, and the
// tables of docs/security.md.
std::string backends_page();

}  // namespace cli
