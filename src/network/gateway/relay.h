// SPDX-License-Identifier: MIT
// Bytes between two sockets, both ways, until both are through: the part that has to be fast. Short exchanges
// are copied through one buffer of the loop's; a stream that goes on is moved by splice(2) through a pipe, and
// never seen by this process. Half-close, reset and a reader that does not read are passed on; memory per
// relay is bounded.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/file.h"
#include "network/gateway/loop.h"

namespace network::gateway {

class PipePool;

// What was read before the relay began and has still to be sent.
struct Pending {
    std::string to_first;
    std::string to_second;
};

class Relay : public Watcher {
  public:
    struct Counts {
        uint64_t from_first = 0;
        uint64_t from_second = 0;
    };
    // Called once, from the loop's deferred acts: the relay may be destroyed in it.
    using Done = std::function<void(const Counts&)>;

    // The descriptors are not blocking and are watched by nobody else.
    Relay(Loop& loop, PipePool& pipes, base::Fd first, base::Fd second, Pending pending, Done done);
    ~Relay() override;
    void on_ready(uint32_t events, int which) override;
    const Counts& counts() const;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace network::gateway
