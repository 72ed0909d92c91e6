// SPDX-License-Identifier: MIT
// A TCP socket that is tied to the loop once, edge-triggered and for all events, and changes hands between
// watchers without a system call.
#pragma once

#include "base/file.h"
#include "network/gateway/loop.h"

namespace network::gateway {

class Stream {
  public:
    Stream() = default;
    // Not blocking.
    Stream(Loop& loop, base::Fd socket) : loop_(&loop), socket_(std::move(socket)) {}
    Stream(Stream&& other) noexcept;
    Stream& operator=(Stream&& other) noexcept;
    ~Stream() { close(); }

    int fd() const { return socket_.get(); }
    explicit operator bool() const { return bool(socket_); }

    // A stream that somebody watched before only changes hands: what is readable by then must be asked for.
    void watch(Watcher& watcher, int which = 0);

    void close();
    // The peer sees a reset instead of an end.
    void reset();

  private:
    Loop* loop_ = nullptr;
    base::Fd socket_;
    Loop::Slot slot_ = nullptr;
};

}  // namespace network::gateway
