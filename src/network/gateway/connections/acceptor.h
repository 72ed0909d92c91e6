// SPDX-License-Identifier: MIT
// Accepts the jail's connections. Each becomes a Connection (connection.h) and later a Relay (relay.h).
#pragma once

#include <memory>
#include <vector>

#include "base/file.h"
#include "network/gateway/connections/dial.h"
#include "network/gateway/context.h"
#include "network/gateway/names/name_server.h"

namespace network::gateway {

class Connection;

class Acceptor : public base::Watcher {
  public:
    // Only tests pass another function than connect(2).
    Acceptor(GatewayContext& context, NameServer& name_server, Connect connect = connect_socket);
    ~Acceptor() override;

    // How to find the address that the client connected to: it is the accepted socket's own address (a
    // listener bound to it, or TPROXY), or the kernel's record of a redirection (SO_ORIGINAL_DST).
    enum class Origin { own_address, redirected };
    void listen(base::Fd listener, Origin origin);

    // A connection that another process accepted, to this destination.
    void admit(base::Fd client, const Endpoint& destination);

    void on_ready(uint32_t events, int which) override;

    size_t connections() const;
    // One of the listeners, which belong to the jail's network, or -1.
    int socket_inside() const;
    // The rules have changed: closes the connections that they do not allow. Returns how many.
    size_t judge_again();
    // For `inspect` and `monitor`: the connections that have a target, the oldest first.
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

// Connections that the inner stage passes one by one if the jail has no network namespace of its own
// (doorman/doorman.h). Each comes with a note that contains its destination.

class PassedAcceptor : public base::Watcher {
  public:
    PassedAcceptor(GatewayContext& context, Acceptor& acceptor, base::Fd stage);
    ~PassedAcceptor() override;

    void on_ready(uint32_t events, int which) override;
    // False: the stage has exited and no more connections will come.
    bool is_open() const { return bool(stage_); }

  private:
    void close();

    GatewayContext& context_;
    Acceptor& acceptor_;
    base::Fd stage_;
    base::EventLoop::Slot slot_ = nullptr;
};

}  // namespace network::gateway
