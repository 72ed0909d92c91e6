// SPDX-License-Identifier: MIT
// UDP of the jail to ports that a rule opens. Each pair of a client's socket and a destination is a flow with
// a connected socket of its own in the host's network; what is not opened is dropped and recorded.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/file.h"
#include "network/gateway/connection_facts.h"
#include "network/gateway/desk.h"

namespace network::gateway {

class Datagrams {
  public:
    static constexpr size_t kMostFlows = 256;
    static constexpr size_t kMostQueued = 16;  // of a flow whose name is being looked up
    static constexpr std::chrono::seconds kIdle{60};
    // A flow that was silent for this long gives way where all places are taken.
    static constexpr std::chrono::seconds kGivesWay{5};

    explicit Datagrams(Desk& desk);
    ~Datagrams();
    Datagrams(const Datagrams&) = delete;
    Datagrams& operator=(const Datagrams&) = delete;

    // Bound to this port of all addresses inside the jail; one per family.
    void listen(base::Fd socket, uint16_t port);

    size_t flows() const;
    // The rules are new: ends what they do not open any more. How many that were.
    size_t judge_again();
    std::vector<ConnectionFacts> list() const;

  private:
    class Listener;
    class Flow;
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace network::gateway
