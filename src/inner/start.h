// SPDX-License-Identifier: MIT
// From the stage to the command: the fork, what the child lays around itself, and the execution.
#pragma once

#include <sys/types.h>

#include "base/file.h"
#include "inner/orders.h"
#include "landlock/wall.h"

namespace inner {

// The stage can't be inside the filter where it answers calls itself, or has to end what the command leaves:
// that takes calls which the filter refuses. Where the command is traced it has a filter of its own, and the
// stage enters the usual one once it has forked.
bool is_filtered_alone(const Orders& orders);  // the command, and not the stage

struct Started {
    pid_t command = -1;  // -1: it was not, and the reason is reported
    base::Fd listener;   // of the doorman, where there is one
};

// Starts the command and reports.
Started start(const Orders& orders, const landlock::Built& wall);

}  // namespace inner
