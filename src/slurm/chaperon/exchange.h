// SPDX-License-Identifier: MIT
// One real command from its start to its end, beside the stub's connection: bytes in and out under
// back-pressure, and an end in time when the stub has gone.
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

    // Starts it with pipes for output and errors, and for its input where `has_input`; or on a
    // pseudo-terminal of this size.
    base::Status start(Launch launch, bool has_input, std::optional<channel::Window> terminal);

    // Bytes for its standard input, and whether no more will come. Written bytes are taken off.
    std::string source;
    bool is_source_over = false;

    std::function<void(std::string_view bytes)> on_output, on_errors;
    // The connection has been attended to: signals, a window size or input may have come.
    std::function<void()> on_news;
    std::function<void(size_t bytes)> on_written;

    // Until it has ended and everything that it wrote was taken.
    Ending run();

    void signal(int number) const;
    void resize(channel::Window size) const;
    // Asks it to end, and makes it end after a while.
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
    int dismissal_ = 0;  // the signal that asks it to end
    bool is_dismissed_ = false;
    std::optional<Clock::time_point> deadline_;  // of its end, then of its last bytes
    base::Fd input_, output_, errors_;
};

}  // namespace slurm::chaperon
