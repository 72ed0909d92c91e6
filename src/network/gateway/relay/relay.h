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

#include "base/file.h"
#include "base/process/event_loop.h"
#include "network/gateway/connections/client_filter.h"
#include "network/gateway/relay/pump.h"
#include "network/gateway/relay/stream.h"

namespace network::gateway {

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
