// SPDX-License-Identifier: MIT
// One direction between two sockets. Edge-triggered: a run reads until no bytes are left or the other side
// accepts no more. Only a new event makes another run useful.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "network/gateway/relay/pipe_pool.h"

namespace network::gateway {

class Pump {
  public:
    enum class State {
        waiting,  // for bytes, for room, or for the filter
        yielded,  // more bytes are there, but it is the turn of others
        through,  // the end was read and everything before it sent; the caller passes the end on
        broken,
    };

    // Reads the bytes and decides which of them pass. With a filter, splice(2) is not used.
    class Filter {
      public:
        virtual ~Filter() = default;
        // Appends to `onward` the bytes that may pass.
        virtual void take(std::string_view bytes, std::string& onward) = 0;
        virtual void take_end(std::string& onward) = 0;
        virtual bool wants_more() const = 0;
    };

    State run(int from, int to, PipePool& pipes, Filter* filter = nullptr);

    // Sent before the bytes that are read.
    void append(std::string_view bytes) { pending_ += bytes; }
    // The event announced an end or an error, so a short read is not the last one.
    void expect_end() { reads_to_the_end_ = true; }
    // Bytes wait until the receiving side accepts more.
    bool is_blocked() const { return in_pipe_ > 0 || !pending_.empty(); }
    bool is_through() const { return is_through_; }
    uint64_t moved() const { return moved_; }
    void release(PipePool& pipes);

  private:
    enum class Step { on, wait, broken };
    Step send_pending(int to);
    Step send_pipe(int to);
    Step receive(int from, int to, PipePool& pipes, Filter* filter);
    Step receive_into_pipe(int from, PipePool& pipes);
    Step receive_copy(int from, int to, Filter* filter);
    Step failed_read(ssize_t count);

    std::string pending_;
    Pipe pipe_;
    size_t in_pipe_ = 0;
    uint64_t moved_ = 0;
    bool reads_to_the_end_ = true;  // epoll sent no event for bytes that arrived before the first run
    bool is_drained_ = false;
    bool has_ended_ = false;
    bool is_through_ = false;
};

}  // namespace network::gateway
