// SPDX-License-Identifier: MIT
// The process beside the jail that carries all of the jail's traffic, from the new network namespace to the
// last byte.
#pragma once

#include <functional>
#include <optional>

#include "audit/writer.h"
#include "base/file.h"
#include "base/result.h"
#include "network/gateway/broker/broker.h"
#include "network/netns/set_up.h"
#include "rules/egress.h"

namespace network::gateway {

struct GatewayInputs {
    // Waits for the jail's network namespace and returns its listeners.
    std::function<base::Result<netns::Listeners>(const netns::NetworkRequest&)> await_listeners;
    audit::Writer record;  // without a file, nothing is recorded
    base::Fd control;      // to the supervisor (messages.h)
    // The inner stage passes connections here (acceptor.h). There is then no namespace to set up or to
    // wait for.
    base::Fd handed;
    // Credentials and request rules. Not set: the gateway reads no request and loads no library for it.
    std::optional<BrokerInputs> broker = std::nullopt;
};

// The sockets that these rules need in the jail's network namespace.
netns::NetworkRequest network_request_for(const Egress& egress);

// Runs until the supervisor reports that the jail has ended, or exits itself. Returns the exit status.
int run(const Egress& egress, GatewayInputs inputs);

// The gateway reads bytes that a jailed program chose. Before it reads the first one, it gives up everything
// that it does not need: files, new programs, other processes, listening. It keeps IPv4 and IPv6 sockets and
// the descriptors that it was given.

struct Confinement {
    bool has_landlock = false;  // this kernel offers it
};

// On an error the gateway must not serve.
base::Result<Confinement> confine();

}  // namespace network::gateway
