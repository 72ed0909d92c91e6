// SPDX-License-Identifier: MIT
// modules.load: runs the site's module command on the caller's environment and passes the result to the plan.
#pragma once

#include "base/result.h"
#include "cli/context.h"
#include "modules/load.h"

namespace cli {

// Starts no process if no module is requested.
base::Result<modules::Loaded> load_modules(const Settings& settings, const Caller& caller);

void use_modules(const modules::Loaded& loaded, plan::Request& request);
void tell_modules(const modules::Loaded& loaded, plan::Plan& plan);

}  // namespace cli
