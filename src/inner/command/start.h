// SPDX-License-Identifier: MIT
// From the stage to the command: the fork, the child's confinement, and the exec.
#pragma once

#include <sys/types.h>

#include "base/file.h"
#include "inner/launch_spec.h"
#include "landlock/wall.h"

namespace inner {

// The stage answers calls of the command.
bool has_own_doorman(const LaunchSpec& spec);

// The stage can't be inside the filter if it answers calls itself, or has to end what the command leaves:
// that needs calls which the filter refuses. A traced command has its own filter, and the stage enters the
// usual one after the fork.
bool is_filtered_alone(const LaunchSpec& spec);  // the command, and not the stage

struct Started {
    pid_t command = -1;  // -1: not started, and the reason is reported
    base::Fd listener;   // of the doorman, if there is one
};

// Starts the command and reports.
Started start(const LaunchSpec& spec, const landlock::Built& wall);

}  // namespace inner
