// SPDX-License-Identifier: MIT
// From the stage to the command: the fork, the child's confinement, and the exec.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "inner/launch_spec.h"
#include "landlock/wall.h"

namespace inner {

// Executes the command by its name, and returns the exact reason if that fails.

struct ExecuteFailure {
    int number = 0;
    std::string_view step;  // kStepExecute or kStepInterpreter
};

// As execvp(3) does, with the PATH of the command's own environment; returns only on failure.
ExecuteFailure execute(const std::vector<std::string>& command, const std::vector<std::string>& environment);
inline ExecuteFailure execute(const LaunchSpec& spec) {
    return execute(spec.command, spec.environment);
}

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

// The same steps for a command that is added later (added_commands.h).

// A pipe or a socket pair between the stage and a child. Functions that open one return zero or an errno.
struct Channel {
    base::Fd stage, child;
};
int open_channel(Channel& channel);
int open_failures(Channel& failures);

// In the child: limits, Landlock, the filters. A number of zero means success.
ExecuteFailure go_through_walls(const LaunchSpec& spec, const landlock::Built& wall, int channel);
void restore_open_files_limit(uint64_t soft);

// In the stage: the listener of the child's calls. Empty if the child failed before; it reports that itself.
base::Fd take_listener(pid_t child, int channel);

}  // namespace inner
