// SPDX-License-Identifier: MIT
// The process beside a jail that records what is tried in it (docs/records.md).
#pragma once

#include <string>

#include "audit/writer.h"
#include "base/file.h"
#include "doorman/answered_calls.h"
#include "plan/plan.h"

namespace tracer {

struct TracerInputs {
    base::Fd listener;  // of the jail's filter (seccomp/trace.h)
    base::Fd control;   // to the supervisor (record.h); non-blocking
    audit::Writer record;
    const doorman::AnsweredCalls& answers;  // calls that are not only observed
};

// Runs until the supervisor ends it, or exits; returns the exit status.
int run(const plan::Plan& plan, TracerInputs inputs);

}  // namespace tracer
