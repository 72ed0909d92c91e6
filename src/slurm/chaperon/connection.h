// SPDX-License-Identifier: MIT
// A worker's end of the channel. Everything that comes is taken at once and kept in its place, bounded: input
// by the room that was given, signals by their number. What goes out waits here until the stub reads.
#pragma once

#include <poll.h>

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "slurm/channel/frame.h"
#include "slurm/channel/request.h"
#include "slurm/chaperon/serve.h"

namespace slurm::chaperon {

class Connection {
  public:
    // `socket` is non-blocking.
    explicit Connection(base::Fd socket) : socket_(std::move(socket)) {}

    // What a request that is not answered is denied with.
    struct Refused {
        std::string code, what;
    };
    // Nothing: the stub went away before it had said all.
    using Arrived = std::variant<std::monostate, channel::Request, Refused>;
    Arrived receive_request(const Limits& limits);

    // The stub is gone, or spoke nonsense: nothing comes and nothing goes any more.
    bool is_gone() const { return !socket_; }

    void send(std::string_view frames) {
        if (!is_gone()) outgoing_ += frames;
    }
    // Waits until all is sent or the stub is gone.
    void flush();
    // Tells a stub that speaks nonsense why it is not answered, as far as it listens, and hangs up.
    void hang_up(std::string_view last_words);
    bool is_congested() const { return outgoing_.size() >= channel::kWindow; }
    bool has_outgoing() const { return !outgoing_.empty(); }

    // For a poll loop: what to wait for (fd -1 when the stub is gone), and what to do when it has come.
    struct pollfd awaited() const;
    void attend(short events);

    // Room for more input is given here, and taken away by what comes.
    void give_room(size_t bytes);

    // What has come since: input that was not taken yet, signals in their order, the last window size.
    std::string input;
    bool is_input_over = false;
    std::vector<int> signals;
    std::optional<channel::Window> window;
    std::optional<int> ended;

  private:
    void read_frames();
    bool take(channel::Frame& frame);
    void write_some();

    base::Fd socket_;
    channel::Decoder decoder_;
    std::string outgoing_;
    size_t room_ = 0;
};

}  // namespace slurm::chaperon
