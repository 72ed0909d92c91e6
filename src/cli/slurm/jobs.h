// SPDX-License-Identifier: MIT
// The part of a run that its Slurm jobs inherit.
#pragma once

#include <string>

#include "cli/context.h"
#include "session/session.h"

namespace cli {

session::Jobs jobs_of(const Planned& planned, const Caller& caller, const Arguments& arguments,
                      const std::string& session);

// The options of this command line, in a form that the program parses to the same options again.
std::vector<std::string> options_of(const Arguments& arguments);

// The variables that are settings, unchanged.
std::vector<std::string> setting_variables(const std::vector<std::string>& environment);

}  // namespace cli
