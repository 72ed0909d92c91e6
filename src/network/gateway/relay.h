// SPDX-License-Identifier: MIT
// Bytes between two sockets, both ways, until both are through: the part that has to be fast. Short exchanges
// are copied through one buffer of the loop's; a stream that goes on is moved by splice(2) through a pipe,
// and never seen by this process. Half-close, reset and a reader that does not read are passed on; memory per
// relay is bounded. A guard, where there is one, judges what the first end sends; what the second sends flows
// at once, so that protocols whose server speaks first need no time-out.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/file.h"
#include "network/gateway/guard.h"
#include "network/gateway/loop.h"
#include "network/gateway/pump.h"
#include "network/gateway/stream.h"

namespace network::gateway {

class PipePool;

// What was read before the relay began and has still to be sent.
struct Pending {
    std::string to_first;
    std::string to_second;  // without a guard; otherwise it is shown to the guard first
};

class Relay : public Watcher {
  public:
    struct Counts {
        uint64_t from_first = 0;
        uint64_t from_second = 0;
    };
    // Called once, from the loop's deferred acts: the relay may be destroyed in it.
    using Done = std::function<void(const Counts&)>;

    // The sockets are not blocking.
    Relay(Loop& loop, PipePool& pipes, Stream first, Stream second, const Pending& pending, Done done,
          std::unique_ptr<Guard> guard = nullptr);
    // For descriptors that are watched by nobody yet.
    Relay(Loop& loop, PipePool& pipes, base::Fd first, base::Fd second, const Pending& pending, Done done);
    ~Relay() override;
    void on_ready(uint32_t events, int which) override;

    Counts counts() const { return {pumps_[0].moved(), pumps_[1].moved()}; }

    // Null once nothing is left to judge.
    const Guard* guard() const { return guard_.get(); }
    // As far as the guard knew: "tls", "http", "ssh", "tcp".
    std::string_view protocol() const { return guard_ ? guard_->protocol() : protocol_; }
    // After the guard refused, for whoever is called back: the first end, to be told so. Empty where no
    // answer fits, because an earlier one is still under way.
    Stream take_first();
    // Ends it here and now; nobody is called back. The server sees a reset. The first end, to be told or
    // reset.
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

    Loop& loop_;
    PipePool& pipes_;
    Stream ends_[2];
    Pump pumps_[2];  // by the end that is read
    std::unique_ptr<Guard> guard_;
    std::string_view protocol_ = "tcp";
    Done done_;
    uint64_t received_at_request_ = 0;  // when the last request went on
    bool is_finished_ = false;
    bool is_owed_bytes_ = false;  // the client, of an answer, when it ended
    bool will_run_ = false;
    std::shared_ptr<char> token_;  // deferred acts hold it weakly: nothing is done for a relay that is gone
};

}  // namespace network::gateway
