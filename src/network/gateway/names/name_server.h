// SPDX-License-Identifier: MIT
// The jail's DNS server. The policy decides before a query leaves the host, because a query already carries
// data out.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/file.h"
#include "network/gateway/context.h"

namespace network::gateway {

class NameServer {
  public:
    // Queries that wait for the host's resolvers. Beyond that number the answer is an immediate failure.
    static constexpr size_t kMostOutstanding = 512;

    explicit NameServer(GatewayContext& context);
    ~NameServer();
    NameServer(const NameServer&) = delete;
    NameServer& operator=(const NameServer&) = delete;

    // One reply per message, now or later; an empty reply means that the message is ignored. For UDP and TCP.
    // `answer` is called even after the client has left, and must handle that.
    using Answer = std::function<void(std::string reply)>;
    void serve(std::string_view message, Answer answer);

    // UDP sockets bound to port 53 of all addresses inside the jail, one per address family. A reply leaves
    // from the address that was queried.
    void listen(base::Fd socket);

    // The rules have changed: names must be recorded again, because the record has their old verdicts.
    void judge_again();

  private:
    class Socket;
    struct State;
    std::shared_ptr<State> state_;  // a running lookup checks whether it still exists
};

}  // namespace network::gateway
