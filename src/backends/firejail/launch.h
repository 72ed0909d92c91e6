// SPDX-License-Identifier: MIT
// Starts firejail with a plan. Its environment is empty. Its rules for paths are in a memory file, the only
// profile that it reads. It inherits only the descriptors that it needs.
#pragma once

#include <string>
#include <string_view>

#include "backends/backend.h"
#include "base/result.h"
#include "host/facts.h"
#include "plan/plan.h"

namespace backends::firejail {

base::Result<Launched> launch(const plan::Plan& plan, const host::Facts& facts, const Caller& caller);

// Whether this firejail has the options that the jail needs. Searches its file for them, because
// distributions patch versions, and running it would cost more than the jail.

base::Status knows_options(const std::string& program);

// Turns firejail's error output into one line that a user can act on.

base::Error diagnose(std::string_view standard_error);

}  // namespace backends::firejail
