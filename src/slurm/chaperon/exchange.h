// SPDX-License-Identifier: MIT
// Runs one real command from start to end beside the stub's connection: input and output with back-pressure,
// and a bounded time to end after the stub has left.
#pragma once

#include <poll.h>
#include <sys/types.h>

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/file.h"
#include "slurm/chaperon/connection.h"
#include "slurm/chaperon/conversation.h"
#include "slurm/chaperon/processes.h"

namespace slurm::chaperon {

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
