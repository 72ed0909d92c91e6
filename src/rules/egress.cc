// SPDX-License-Identifier: MIT
#include "rules/egress.h"

#include <algorithm>
#include <set>

#include "base/format.h"
#include "rules/always_blocked.h"

namespace network {
namespace {

// Each port needs a pair of sockets in the gateway.
constexpr size_t kMostUdpPorts = 256;
constexpr size_t kMostTcpPorts = 1024;

base::Error too_wide(const Rule& rule, const std::string& what) {
    return base::Error{.what = base::format("{}: {}", in_quotes(rule.text), what),
                       .advice = "name the ports that are needed, such as udp:example.org:123",
                       .where = rule.origin.describe()};
}

base::Status add_udp(const Rule& rule, std::set<uint16_t>& ports) {
    if (!rule.names_ports()) return too_wide(rule, "UDP is opened for named ports alone");
    for (int port = rule.ports.first; port <= rule.ports.last; ++port) {
        if (ports.size() >= kMostUdpPorts)
            return too_wide(rule, base::format("more than {} ports for UDP", kMostUdpPorts));
        ports.insert(static_cast<uint16_t>(port));
    }
    return base::success();
}

// Only kernels without nf_tables need a listener per port. Ports beyond the limit stay closed there.
void add_tcp(const Rule& rule, std::set<uint16_t>& ports) {
    if (!rule.names_ports()) return;
    for (int port = rule.ports.first; port <= rule.ports.last && ports.size() < kMostTcpPorts; ++port)
        ports.insert(static_cast<uint16_t>(port));
}

}  // namespace

base::Status find_ports(Egress& egress) {
    std::set<uint16_t> tcp, udp;
    base::Result<std::vector<Rule>> rules = opening_rules(egress.rules);
    if (!rules) return rules.error();
    for (const Rule& rule : *rules) {
        if (!rule.is_udp_only) {
            add_tcp(rule, tcp);
        } else if (base::Status added = add_udp(rule, udp); !added) {
            return added;
        }
    }
    // The name server uses this port.
    udp.erase(53);
    egress.udp_ports.assign(udp.begin(), udp.end());
    egress.tcp_ports.assign(tcp.begin(), tcp.end());
    return base::success();
}

}  // namespace network
