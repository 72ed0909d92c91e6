// SPDX-License-Identifier: MIT
// The line at the start of a run, and the page that is printed when the program is called without arguments.
#pragma once

#include <string>

#include "cli/context.h"
#include "cli/verbs.h"

namespace cli {

// "native · ~/code/app (writable) · network isolated · 12 variables held back"
std::string start_line(const plan::Plan& plan, const base::Path& home);

// What a run would do here, and three commands to try.
int print_overview(const Invocation& call);

}  // namespace cli
