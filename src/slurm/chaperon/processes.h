// SPDX-License-Identifier: MIT
// Real commands as processes: executed through a descriptor, with an argument vector and an environment that
// are wholly ours, no shell, and nothing inherited.
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
    std::string name;  // the first word of its arguments
    std::vector<std::string> arguments;
    std::vector<std::string> environment;
    std::string directory = "/";
    // Its standard descriptors; -1: /dev/null.
    int input = -1, output = -1, errors = -1;
    bool starts_nothing = true;  // false: it is to start a program, as salloc does
    bool has_terminal = false;   // `input` is a terminal that is to control it, in a session of its own
    int death_signal = 9;        // what it gets when this process dies
};

// Returns when the program was executed, or why it was not.
base::Result<pid_t> start(const Launch& launch);

// How it is asked to end when its stub or this process is gone. srun and salloc hold something that they must
// have a moment to give back: salloc does so on SIGHUP, while after SIGTERM it goes on waiting for its
// command. The others are just ended.
int death_signal_of(std::string_view client);

struct Pipe {
    base::Fd read, write;
};
// Closed by exec at both ends; our end, `ours_is_read` or the other, does not block.
base::Result<Pipe> make_pipe(bool ours_is_read);

struct PseudoTerminal {
    base::Fd master, slave;  // the master does not block
};
base::Result<PseudoTerminal> make_terminal(channel::Window size);
void resize_terminal(int master, channel::Window size);

// SIGCHLD as a descriptor, which is held back from this process otherwise. Unlike a pidfd it is there on
// every kernel that we support.
base::Result<base::Fd> watch_children();
void forget_child_signals(int fd);

Ending ending_of(int wait_status);

}  // namespace slurm::chaperon
