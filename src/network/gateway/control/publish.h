// SPDX-License-Identifier: MIT
// Ports of the jail that are reachable on the host's loopback. This is the only case in which the gateway
// listens on the host's network, because the user requested the port.
#pragma once

#include <list>
#include <memory>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "network/gateway/context.h"
#include "network/gateway/relay/relay.h"
#include "rules/services.h"

namespace network::gateway {

// A listener on the host's 127.0.0.1. A port in use, or one of root's, is an error with advice.
base::Result<base::Fd> open_port(const Published& published);

class Publish {
  public:
    Publish(GatewayContext& context, PipePool& pipes, base::Fd connector);
    ~Publish();
    Publish(const Publish&) = delete;
    Publish& operator=(const Publish&) = delete;

    // Opens the listeners before the gateway confines itself. A port in use is an error.
    static base::Result<std::vector<base::Fd>> open(const std::vector<Published>& published);

    void listen(base::Fd listener, const Published& published);
    // The supervisor starts a connector for the first port that is published while the session runs.
    void connect_by(base::Fd connector) { connector_ = std::move(connector); }
    bool has_connector() const { return bool(connector_); }
    // Closes the port and its visits. False: it is not published.
    bool end(uint16_t host_port);

  private:
    class Port;
    class Visit;

    GatewayContext& context_;
    PipePool& pipes_;
    base::Fd connector_;
    std::vector<std::unique_ptr<Port>> ports_;
    std::list<std::unique_ptr<Visit>> visits_;
};

}  // namespace network::gateway
