// SPDX-License-Identifier: MIT
// Everything that a session's network may do, as data. The plan makes it and the gateway enforces it. While
// the session runs, its rules and passed types may be replaced. The rest is fixed.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/result.h"
#include "rules/engine.h"
#include "rules/services.h"

namespace network {

struct Egress {
    EngineSettings rules;
    std::vector<Published> published;
    std::optional<UpstreamProxy> upstream;
    std::vector<uint16_t> passed_types;  // DNS types of network.dns_types beyond A, AAAA and PTR
    std::vector<uint16_t> udp_ports;     // allowed by a rule: one listener each
    std::vector<uint16_t> tcp_ports;     // named by a rule: one listener each on kernels without nf_tables
    size_t most_connections = 4096;      // at once
    std::chrono::seconds ask_time{120};  // network.ask_time: time limit for an answer

    // A gateway process must run beside the jail.
    bool needs_gateway() const {
        return rules.mode == policy::NetworkMode::filtered || rules.mode == policy::NetworkMode::proxied ||
               !published.empty();
    }
};

// Fills in the ports that the rules name. An entry that allows UDP without a port or on too many ports is an
// error.
base::Status find_ports(Egress& egress);

// The ports of --host-port that the gateway serves on the jail's 127.0.0.1 and ::1. A port that leads into
// the jail by --publish is left to the jail's own server.
std::vector<uint16_t> loopback_ports(const Egress& egress);

}  // namespace network
