// SPDX-License-Identifier: MIT
// One direction between two sockets. Edge-triggered: a run reads until nothing is there or the other side
// takes no more, and only a new event makes a new run worth while.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "network/gateway/pipe_pool.h"

namespace network::gateway {

class Pump {
  public:
    enum class State {
        waiting,  // for bytes, for room, or for the filter
        yielded,  // there is more, and others' turn has come
        through,  // the end was read and everything before it sent; to pass the end on is the caller's
        broken,
    };

    // Sees what was read and says what goes on. While there is one, nothing is spliced.
    class Filter {
      public:
        virtual ~Filter() = default;
        // Appends to `onward` what may go on.
        virtual void take(std::string_view bytes, std::string& onward) = 0;
        virtual void take_end(std::string& onward) = 0;
        virtual bool wants_more() const = 0;
    };

    State run(int from, int to, PipePool& pipes, Filter* filter = nullptr);

    // To be sent before what is read.
    void prepend(std::string bytes) { pending_ = std::move(bytes); }
    void append(std::string_view bytes) { pending_ += bytes; }
    // The event said that an end or an error is to come: a short read is not the last.
    void expect_end() { reads_to_the_end_ = true; }
    // Bytes wait for room on the receiving side.
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
    bool reads_to_the_end_ = true;  // what was there before the first run made no event for us
    bool is_drained_ = false;
    bool has_ended_ = false;
    bool is_through_ = false;
};

}  // namespace network::gateway
