// SPDX-License-Identifier: MIT
// modules.load: what the site's module command makes of the caller's environment, handed to the plan.
#pragma once

#include "base/result.h"
#include "cli/context.h"
#include "modules/load.h"

namespace cli {

// Nothing is started where no module is asked for.
base::Result<modules::Loaded> load_modules(const Settings& settings, const Caller& caller);

void use_modules(const modules::Loaded& loaded, plan::Request& request);
void tell_modules(const modules::Loaded& loaded, plan::Plan& plan);

}  // namespace cli
