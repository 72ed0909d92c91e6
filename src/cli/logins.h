// SPDX-License-Identifier: MIT
// credentials.login = "outside": the log-ins of the agents in force are credentials of the session.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "config/profile.h"
#include "policy/policy.h"

namespace cli {

// Adds the credentials of the agents' log-ins to credentials.use, and takes the variables with a log-in that
// the profiles pass out of `policy`. Returns a line for each variable that is set in `environment`. An agent
// whose log-in can't stay outside is refused with 125.
base::Result<std::vector<std::string>> keep_logins_outside(std::span<const config::Profile> agents,
                                                           const std::vector<std::string>& environment,
                                                           policy::Policy& policy);

}  // namespace cli
