// SPDX-License-Identifier: MIT
// Starts real commands as processes: executed through a descriptor, with our own argument vector and
// environment, no shell, and no inherited descriptors.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "slurm/channel/frame.h"
#include "slurm/chaperon/conversation.h"

namespace slurm::chaperon {

struct Launch {
    int program = -1;
    std::string name;  // its argv[0]
    std::vector<std::string> arguments;
    std::vector<std::string> environment;
    std::string directory = "/";
    // Its standard descriptors. -1: /dev/null.
    int input = -1, output = -1, errors = -1;
    bool starts_nothing = true;  // false: it must be able to start a program, as salloc does
    bool has_terminal = false;   // `input` becomes its controlling terminal, in a session of its own
    int death_signal = 9;        // sent to it when this process dies
};

// Returns after the program was executed, or an error.
base::Result<pid_t> start(const Launch& launch);

// The signal to end a command when its stub or this process is gone. srun and salloc need a moment to release
// their resources. salloc does so on SIGHUP; after SIGTERM it continues to wait for its command. Other
// commands are killed.
int death_signal_of(std::string_view client);

struct Pipe {
    base::Fd read, write;
};
// Both ends are close-on-exec. Our end, the read end if `ours_is_read`, is non-blocking.
base::Result<Pipe> make_pipe(bool ours_is_read);

struct PseudoTerminal {
    base::Fd master, slave;  // the master is non-blocking
};
base::Result<PseudoTerminal> make_terminal(channel::Window size);
void resize_terminal(int master, channel::Window size);

// SIGCHLD as a descriptor; the signal itself is blocked. Unlike a pidfd, this exists on every kernel that we
// support.
base::Result<base::Fd> watch_children();
void forget_child_signals(int fd);

Ending ending_of(int wait_status);

}  // namespace slurm::chaperon
