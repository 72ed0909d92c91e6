// SPDX-License-Identifier: MIT
// The command that a waiting call of the exec family is about to start.
#pragma once

#include <optional>

#include "base/file.h"
#include "seccomp/trace.h"
#include "tracer/commands.h"
#include "tracer/target.h"

namespace tracer {

struct SeenExecution {
    pid_t process;
    base::Fd pidfd;
    Command command;
};

// Whether the call succeeds is not known here; only that the file exists and is executable, and that the
// arguments can be read. A file that is neither a program nor names an interpreter is recorded although the
// kernel refuses it; a shell then reads it itself.
// Threat: a process makes an exec that must fail look like a real one, so that the record shows a harmless
// program instead of the one that continues (trace_attacks.pl, faked).
std::optional<SeenExecution> look_at_execution(const Target& target, const seccomp::ObservedCall& call);

}  // namespace tracer
