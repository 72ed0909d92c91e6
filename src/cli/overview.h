// SPDX-License-Identifier: MIT
// What the start of a run says, and what the program says when it is called without any word.
#pragma once

#include <string>

#include "cli/context.h"
#include "cli/verbs.h"

namespace cli {

// "native · ~/code/app (writable) · network isolated · 12 variables held back"
std::string start_line(const plan::Plan& plan, const base::Path& home);

// What would happen here, and three things to try.
int print_overview(const Invocation& call);

}  // namespace cli
