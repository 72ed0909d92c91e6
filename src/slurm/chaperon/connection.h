// SPDX-License-Identifier: MIT
// A worker's end of the channel. It reads every frame at once and stores the content, with limits: input by
// the room that was given, signals by their number. Outgoing bytes wait here until the stub reads.
#pragma once

#include <poll.h>

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "slurm/channel/channel.h"
#include "slurm/chaperon/serve.h"

namespace slurm::chaperon {

class Connection {
  public:
    // `socket` is non-blocking.
    explicit Connection(base::Fd socket) : socket_(std::move(socket)) {}

    // The denial of a request that is not answered.
    struct Refused {
        std::string code, what;
    };
    // Nothing: the stub closed the connection before the request was complete.
    using Arrived = std::variant<std::monostate, channel::StubRequest, Refused>;
    Arrived receive_request(const Limits& limits);

    // The stub has closed the connection or sent a malformed frame: no more bytes in either direction.
    bool is_gone() const { return !socket_; }

    void send(std::string_view frames) {
        if (!is_gone()) outgoing_ += frames;
    }
    // Waits until everything is sent or the stub is gone.
    void flush();
    // Sends the reason to a stub that sent a malformed request, waits at most a second for it to read, and
    // closes.
    void hang_up(std::string_view last_words);
    bool is_congested() const { return outgoing_.size() >= channel::kWindow; }
    bool has_outgoing() const { return !outgoing_.empty(); }

    // For a poll loop: the events to wait for (fd -1 if the stub is gone), and how to handle them.
    struct pollfd awaited() const;
    void attend(short events);

    // Allows the stub to send this many more bytes of input.
    void give_room(size_t bytes);

    // Received so far: input that was not taken yet, signals in their order, the last window size.
    std::string input;
    bool is_input_over = false;
    std::vector<int> signals;
    std::optional<channel::Window> window;
    std::optional<int> ended;

  private:
    enum class Received { frames, nothing, closed, malformed };
    Received receive(std::vector<channel::Frame>& frames);
    void read_frames();
    bool take(channel::Frame& frame);
    void write_some();

    base::Fd socket_;
    channel::Decoder decoder_;
    std::string outgoing_;
    size_t room_ = 0;
};

}  // namespace slurm::chaperon
