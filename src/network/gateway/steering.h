// SPDX-License-Identifier: MIT
// What can be done to a gateway that serves: other rules, and a look at what it does. New rules take the
// place of all others in one step of the loop, in which everything that is open is judged by them as well;
// rules that can't be obeyed change nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "network/gateway/datagrams.h"
#include "network/gateway/desk.h"
#include "network/gateway/door.h"
#include "network/gateway/name_server.h"

namespace network::gateway {

// The rules that all others refer to.
struct Rules {
    Engine& engine;
    Egress& egress;  // with the ports of UDP that have a listener
    // The same for TCP, sorted; nothing: connections to all ports come here.
    std::optional<std::vector<uint16_t>> tcp_ports;
};

class Steering {
  public:
    Steering(Desk& desk, Rules rules, Door& door, Datagrams& datagrams, NameServer& name_server)
        : desk_(desk),
          rules_(std::move(rules)),
          door_(door),
          datagrams_(datagrams),
          name_server_(name_server) {}

    // The text of network/rules/settings_text.h. How many connections and flows were closed.
    base::Result<size_t> renew(std::string_view text);
    // A JSON object: connections (the oldest kMostListed of them), connection_count, pending, refused.
    static constexpr size_t kMostListed = 256;
    std::string state() const;

  private:
    base::Status check_ports(const Egress& wanted) const;

    Desk& desk_;
    Rules rules_;
    Door& door_;
    Datagrams& datagrams_;
    NameServer& name_server_;
};

}  // namespace network::gateway
