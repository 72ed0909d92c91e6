// SPDX-License-Identifier: MIT
// The jail's DNS. The policy is asked before anything leaves the host: a lookup carries data out already.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/file.h"
#include "network/gateway/desk.h"

namespace network::gateway {

class NameServer {
  public:
    // Questions that wait for the host's resolvers; beyond that the answer is a failure, at once.
    static constexpr size_t kMostOutstanding = 512;

    explicit NameServer(Desk& desk);
    ~NameServer();
    NameServer(const NameServer&) = delete;
    NameServer& operator=(const NameServer&) = delete;

    // One message in, one message out, now or later; empty for a message to be ignored. Serves UDP and TCP.
    // When the asker goes away before, `answer` is still called and must cope.
    using Answer = std::function<void(std::string reply)>;
    void serve(std::string_view message, Answer answer);

    // UDP sockets bound to port 53 of all addresses inside the jail; one per family. Answers leave from the
    // address that was asked.
    void listen(base::Fd socket);

    // The rules are new: names that are in the record already stand there with an old verdict.
    void judge_again();

  private:
    class Socket;
    struct State;
    std::shared_ptr<State> state_;  // lookups under way look whether it is still there
};

}  // namespace network::gateway
