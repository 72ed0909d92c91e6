// SPDX-License-Identifier: MIT
// What of a run goes along with the Slurm jobs that are started from its jail.
#pragma once

#include <string>

#include "cli/context.h"
#include "session/session.h"

namespace cli {

session::Jobs jobs_of(const Planned& planned, const Caller& caller, const Arguments& arguments,
                      const std::string& session);

// The options of this command line, in words that the program reads as the same again.
std::vector<std::string> options_of(const Arguments& arguments);

// The variables that are settings, as they are.
std::vector<std::string> setting_variables(const std::vector<std::string>& environment);

}  // namespace cli
