// SPDX-License-Identifier: MIT
// Moves bytes between two sockets, both ways, until both have ended. This part has to be fast. Short
// exchanges are copied through one static buffer. A longer stream is moved by splice(2) through a pipe, and
// this process never reads it. Half-close, reset and backpressure are passed on, and the memory per relay is
// bounded. A guard, if there is one, judges the first end's bytes. The second end's bytes pass at once, so
// protocols whose server sends first need no time-out.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/process/event_loop.h"
#include "network/gateway/connections/client_filter.h"

namespace network::gateway {

// A TCP socket that is added to epoll once, edge-triggered and for all events. It moves between watchers
// without a system call.

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

// Pipes for splice(2). Each costs pages and two descriptors, so a relay holds one only while bytes are in it.

struct Pipe {
    base::Fd read_end;
    base::Fd write_end;

    explicit operator bool() const { return bool(read_end); }
};

class PipePool {
  public:
    static constexpr int kSize = 256 << 10;  // requested; the kernel may limit the total of a user's pipes
    static constexpr size_t kMostKept = 32;
    static constexpr size_t kMostOut = 256;  // the other descriptors are for connections

    // Empty if the kernel or the limit refuses; the caller then copies bytes.
    Pipe take();
    // give_back() takes an empty pipe for reuse. lose() closes one that still has bytes.
    void give_back(Pipe pipe);
    void lose(Pipe pipe);

  private:
    std::vector<Pipe> kept_;
    size_t out_ = 0;
};

// One direction between two sockets. Edge-triggered: a run reads until no bytes are left or the other side
// accepts no more. Only a new event makes another run useful.

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

class PipePool;

// Bytes that were read before the relay began and must still be sent.
struct Pending {
    std::string to_first;
    std::string to_second;  // with a guard, it passes the guard first
};

class Relay : public base::Watcher {
  public:
    struct Counts {
        uint64_t from_first = 0;
        uint64_t from_second = 0;
    };
    // Called once, from the loop's deferred calls. The callback may destroy the relay.
    using Done = std::function<void(const Counts&)>;

    // The sockets must be non-blocking.
    Relay(base::EventLoop& loop, PipePool& pipes, Stream first, Stream second, const Pending& pending,
          Done done, std::unique_ptr<Guard> guard = nullptr);
    // For descriptors that have no watcher yet.
    Relay(base::EventLoop& loop, PipePool& pipes, base::Fd first, base::Fd second, const Pending& pending,
          Done done);
    ~Relay() override;
    void on_ready(uint32_t events, int which) override;

    Counts counts() const { return {pumps_[0].moved(), pumps_[1].moved()}; }

    // Null once nothing is left to judge.
    const Guard* guard() const { return guard_.get(); }
    // As far as the guard found out: "tls", "http", "ssh", "tcp".
    std::string_view protocol() const { return guard_ ? guard_->protocol() : protocol_; }
    // For the callback after the guard refused: the first end, to send it the refusal. Empty if an earlier
    // answer is still being sent, because no refusal fits into it.
    Stream take_first();
    // Ends the relay at once without the callback. The server sees a reset. Returns the first end, to be
    // refused or reset.
    Stream give_up();

  private:
    class ClientFilter;
    class ReplyFilter;
    void run(int direction);
    Pump::State pump(int direction);
    void dismiss_guard();
    void run_later();
    void finish();
    void fail();

    base::EventLoop& loop_;
    PipePool& pipes_;
    Stream ends_[2];
    Pump pumps_[2];  // by the end that is read from
    std::unique_ptr<Guard> guard_;
    std::string_view protocol_ = "tcp";
    Done done_;
    uint64_t received_at_request_ = 0;  // when the last request was forwarded
    bool is_finished_ = false;
    bool is_owed_bytes_ = false;  // part of an answer was unsent when the relay ended
    bool will_run_ = false;
    std::shared_ptr<char> token_;  // deferred calls hold it weakly and stop if the relay is destroyed
};

}  // namespace network::gateway
