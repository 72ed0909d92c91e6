// SPDX-License-Identifier: MIT
// All that a session's network is allowed to do, as data: made by the plan, obeyed by the gateway. While the
// session runs its rules and passed types may be exchanged for others, the rest stays.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/result.h"
#include "network/rules/engine.h"
#include "network/rules/services.h"

namespace network {

struct Egress {
    EngineSettings rules;
    std::vector<Published> published;
    std::optional<UpstreamProxy> upstream;
    std::vector<uint16_t> passed_types;  // DNS types of network.dns_types beyond A, AAAA and PTR
    std::vector<uint16_t> udp_ports;     // that a rule opens: a listener each
    std::vector<uint16_t> tcp_ports;     // that a rule names: a listener each on kernels without nf_tables
    size_t most_connections = 4096;      // at once
    std::chrono::seconds ask_time{120};  // network.ask_time: how long a question waits for its answer

    // Somebody has to run beside the jail.
    bool needs_gateway() const {
        return rules.mode == policy::NetworkMode::filtered || rules.mode == policy::NetworkMode::proxied ||
               !published.empty();
    }
};

// Fills in the ports that the rules name. An entry that opens UDP without a port, or too many, is an error.
base::Status find_ports(Egress& egress);

}  // namespace network
