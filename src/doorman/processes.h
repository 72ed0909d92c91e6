// SPDX-License-Identifier: MIT
// The processes of the jail: every process that descends from this one. It adopts orphans (child subreaper),
// so that none of them gets lost.
#pragma once

#include <sys/types.h>

#include <optional>

#include "doorman/caller.h"

namespace doorman {

struct Process {
    pid_t group = 0;  // the thread group: what others call the process
    pid_t parent = 0;
    uid_t file_user = 0;
};
bool read_process(pid_t thread, Process& process);

// Not for this process itself.
bool is_jailed(pid_t thread);
// By a descriptor of it: the number of a process that has not ended, or nothing.
std::optional<pid_t> number_of(int process);

// Limits, priorities, affinities, signals.
Answer answer_for_process(const Caller& caller);

}  // namespace doorman
