// SPDX-License-Identifier: MIT
// What a waiting call of the exec family is about to start.
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

// Whether it comes to that is not seen here: the file is there and executable, and the arguments can be read.
// One that is neither a program nor names an interpreter is recorded although the kernel refuses it; a shell
// then reads it itself.
// Threat: an execution that is bound to fail is made to look like one, so that the record shows a harmless
// program instead of the one that goes on (trace_attacks.pl, faked).
std::optional<SeenExecution> look_at_execution(const Target& target, const seccomp::ObservedCall& call);

}  // namespace tracer
