// SPDX-License-Identifier: MIT
// Where connections of the jail come in. Each becomes a Connection (connection.h) and later a Relay
// (relay.h).
#pragma once

#include <memory>
#include <vector>

#include "base/file.h"
#include "network/gateway/connection_facts.h"
#include "network/gateway/desk.h"
#include "network/gateway/dial.h"
#include "network/gateway/name_server.h"

namespace network::gateway {

class Connection;

class Door : public Watcher {
  public:
    // `connect` is connect(2) but for tests.
    Door(Desk& desk, NameServer& name_server, Connect connect = connect_socket);
    ~Door() override;

    // How the address that the client asked for is found: by the accepted socket's own address (a listener
    // that is bound to it, or TPROXY), or by what the kernel remembers of a redirection.
    enum class Origin { own_address, redirected };
    void listen(base::Fd listener, Origin origin);

    // A connection that was accepted already, to this destination.
    void admit(base::Fd client, const Endpoint& destination);

    void on_ready(uint32_t events, int which) override;

    size_t connections() const;
    // The rules are new: closes what they do not open any more. How many that were.
    size_t judge_again();
    // For whoever looks at the session: those that want to go somewhere, the oldest first.
    std::vector<ConnectionFacts> list() const;

  private:
    struct State;
    void accept_from(size_t index);
    void turn_away(base::Fd client);
    void pause(size_t index);
    void sweep();
    void read_services();
    std::vector<Connection*> all() const;

    std::unique_ptr<State> state_;
};

}  // namespace network::gateway
