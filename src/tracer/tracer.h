// SPDX-License-Identifier: MIT
// The process beside a jail that records what is tried in it (docs/tracing.md).
#pragma once

#include <string>

#include "audit/writer.h"
#include "base/file.h"
#include "plan/plan.h"

namespace tracer {

struct Surroundings {
    base::Fd listener;  // of the jail's filter (seccomp/trace.h)
    base::Fd control;   // to the supervisor (messages.h); not blocking
    audit::Writer record;
};

// Until the supervisor says that it is over, or is gone; the exit status.
int run(const plan::Plan& plan, Surroundings surroundings);

}  // namespace tracer
