// SPDX-License-Identifier: MIT
// UDP from the jail to ports that a rule allows. Each pair of client socket and destination is a flow with a
// connected socket of its own in the host's network. Other datagrams are dropped and recorded.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/file.h"
#include "network/gateway/context.h"

namespace network::gateway {

class Datagrams {
  public:
    static constexpr size_t kMostFlows = 256;
    static constexpr size_t kMostQueued = 16;  // per flow, while its name is looked up
    static constexpr std::chrono::seconds kIdle{60};
    // If there are kMostFlows flows, one that was silent for this long may be closed for a new one.
    static constexpr std::chrono::seconds kGivesWay{5};

    explicit Datagrams(GatewayContext& context);
    ~Datagrams();
    Datagrams(const Datagrams&) = delete;
    Datagrams& operator=(const Datagrams&) = delete;

    // The socket is bound to this port of all addresses inside the jail. One per address family.
    void listen(base::Fd socket, uint16_t port);

    size_t flows() const;
    // The rules have changed: closes the flows that they do not allow. Returns how many.
    size_t judge_again();
    std::vector<ConnectionFacts> list() const;

  private:
    class Listener;
    class Flow;
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace network::gateway
