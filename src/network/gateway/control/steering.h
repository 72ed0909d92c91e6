// SPDX-License-Identifier: MIT
// Changes and inspects a running gateway. New rules replace the old ones in one step of the loop, and all
// open connections are judged by them in the same step. Rules that cannot be applied change nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "network/gateway/connections/acceptor.h"
#include "network/gateway/context.h"
#include "network/gateway/datagrams/datagrams.h"
#include "network/gateway/names/name_server.h"

namespace network::gateway {

// The rules that the other parts refer to.
struct Rules {
    Engine& engine;
    Egress& egress;  // with the UDP ports that have a listener
    // The same for TCP, sorted. Nothing: the gateway receives connections to all ports.
    std::optional<std::vector<uint16_t>> tcp_ports;
};

class Steering {
  public:
    Steering(GatewayContext& context, Rules rules, Acceptor& acceptor, Datagrams& datagrams,
             NameServer& name_server)
        : context_(context),
          rules_(std::move(rules)),
          acceptor_(acceptor),
          datagrams_(datagrams),
          name_server_(name_server) {}

    // `text` is as in rules/text/settings_text.h. Returns how many connections and flows were closed.
    base::Result<size_t> renew(std::string_view text);
    // A JSON object: connections (the oldest kMostListed of them), connection_count, pending, refused.
    static constexpr size_t kMostListed = 256;
    std::string state() const;

  private:
    base::Status check_ports(const Egress& wanted) const;

    GatewayContext& context_;
    Rules rules_;
    Acceptor& acceptor_;
    Datagrams& datagrams_;
    NameServer& name_server_;
};

}  // namespace network::gateway
