// SPDX-License-Identifier: MIT
// Runs real commands as processes, beside the stub's connection.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/process/event_loop.h"
#include "base/result.h"
#include "slurm/channel/channel.h"
#include "slurm/chaperon/connection.h"
#include "slurm/chaperon/conversation.h"

namespace slurm::chaperon {

// Starts real commands as processes: executed through a descriptor, with our own argument vector and
// environment, no shell, and no inherited descriptors.

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

// Runs one real command from start to end beside the stub's connection: input and output with back-pressure,
// and a bounded time to end after the stub has left.

class Exchange {
  public:
    // `children` is the descriptor of watch_children().
    Exchange(Connection& connection, int children, std::chrono::milliseconds grace)
        : connection_(connection), children_(children), grace_(grace) {}

    // Starts the command with pipes for output and errors, and for input if `has_input`; or on a
    // pseudo-terminal of this size.
    base::Status start(Launch launch, bool has_input, std::optional<channel::Window> terminal);

    // Bytes for its standard input, and whether no more will come. Bytes that were written are removed.
    std::string source;
    bool is_source_over = false;

    std::function<void(std::string_view bytes)> on_output, on_errors;
    // Called after events of the connection: it may have new signals, a window size or input.
    std::function<void()> on_news;
    std::function<void(size_t bytes)> on_written;

    // Runs until the command has ended and all of its output was read.
    Ending run();

    void signal(int number) const;
    void resize(channel::Window size) const;
    // Sends the signal to end, and SIGKILL after the grace time.
    void dismiss();

  private:
    using Clock = std::chrono::steady_clock;

    void register_sources(base::EventLoop& loop);
    void read_rest();
    void reap();
    void write_input();
    void read_from(base::Fd& fd, const std::function<void(std::string_view)>& sink);
    bool is_drained() const { return !output_ && !errors_; }
    int milliseconds_to_wait() const;
    void act_in_time();
    void finish_input();

    Connection& connection_;
    int children_;
    std::chrono::milliseconds grace_;
    bool has_terminal_ = false;
    pid_t child_ = -1;
    std::optional<Ending> ending_;
    int dismissal_ = 0;  // the signal that makes it end
    bool is_dismissed_ = false;
    std::optional<Clock::time_point> deadline_;  // for its end, then for its last bytes
    base::Fd input_, output_, errors_;
};

}  // namespace slurm::chaperon
