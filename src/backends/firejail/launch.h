// SPDX-License-Identifier: MIT
// Starts firejail with a plan. Its environment is empty. Its rules for paths are in a memory file, the only
// profile that it reads. It inherits only the descriptors that it needs.
#pragma once

#include "backends/backend.h"
#include "base/result.h"
#include "host/facts.h"
#include "plan/plan.h"

namespace backends::firejail {

base::Result<Launched> launch(const plan::Plan& plan, const host::Facts& facts, const Caller& caller);

}  // namespace backends::firejail
