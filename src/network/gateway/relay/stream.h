// SPDX-License-Identifier: MIT
// A TCP socket that is added to epoll once, edge-triggered and for all events. It moves between watchers
// without a system call.
#pragma once

#include "base/file.h"
#include "base/process/event_loop.h"

namespace network::gateway {

class Stream {
  public:
    Stream() = default;
    // The socket must be non-blocking.
    Stream(base::EventLoop& loop, base::Fd socket) : loop_(&loop), socket_(std::move(socket)) {}
    Stream(Stream&& other) noexcept;
    Stream& operator=(Stream&& other) noexcept;
    ~Stream() { close(); }

    int fd() const { return socket_.get(); }
    explicit operator bool() const { return bool(socket_); }

    // If the stream had a watcher before, the new one gets no event for bytes that arrived earlier: it must
    // read once.
    void watch(base::Watcher& watcher, int which = 0);

    void close();
    // The peer sees a reset instead of an end of file.
    void reset();

  private:
    base::EventLoop* loop_ = nullptr;
    base::Fd socket_;
    base::EventLoop::Slot slot_ = nullptr;
};

}  // namespace network::gateway
