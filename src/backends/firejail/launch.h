// SPDX-License-Identifier: MIT
// Starts firejail with a plan. Its environment is empty, what it is told of paths travels in a memory file as
// the only profile that it reads, and it inherits no descriptor but those that it needs.
#pragma once

#include "backends/backend.h"
#include "base/result.h"
#include "host/facts.h"
#include "plan/plan.h"

namespace backends::firejail {

base::Result<Launched> launch(const plan::Plan& plan, const host::Facts& facts, const Caller& caller);

}  // namespace backends::firejail
