// SPDX-License-Identifier: MIT
#include "rules/egress.h"

#include <algorithm>
#include <set>

#include "base/parse.h"
#include "base/text.h"
#include "rules/built_in_rules.h"
#include "rules/engine.h"

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

std::vector<uint16_t> loopback_ports(const Egress& egress) {
    bool is_filtering = egress.rules.mode == policy::NetworkMode::filtered ||
                        egress.rules.mode == policy::NetworkMode::proxied;
    if (!is_filtering || egress.rules.host_services.empty()) return {};
    base::Result<std::vector<HostService>> services = parse_host_services(egress.rules.host_services);
    std::set<uint16_t> ports;
    for (const HostService& service : services ? *services : std::vector<HostService>())
        if (!service.address) ports.insert(service.port);
    for (const Published& published : egress.published) ports.erase(published.jail_port);
    return {ports.begin(), ports.end()};
}

// The rules that allow something, from the three settings that do.

namespace {

using base::Result;

// A host service becomes an ordinary rule, so that block rules apply to it.
Rule rule_for(const HostService& service) {
    Rule rule{.side = Side::allow, .ports = {service.port, service.port}, .origin = service.origin};
    rule.reason = "network.host_services opens it";
    if (service.address) {
        rule.target = Target::network;
        rule.prefix = Prefix(*service.address);
        rule.text = base::with_port(service.address->str(), service.port);
    } else {
        rule.target = Target::host;
        rule.name = kHostServiceName;
        rule.text = base::with_port(kHostServiceName, service.port);
    }
    return rule;
}

// An entry of network.udp is for UDP, with or without "udp:" in front.
Result<std::vector<Rule>> udp_rules_of(const config::Item& item, const std::vector<Bundle>& bundles) {
    bool is_plain = !item.text.starts_with('@') && !item.text.starts_with("udp:");
    config::Item prefixed{is_plain ? "udp:" + item.text : item.text, item.origin};
    Result<std::vector<Rule>> rules = rules_of(prefixed, Side::allow, bundles);
    if (!rules) return rules.error();
    for (Rule& rule : *rules) {
        rule.is_udp_only = true;
        if (rule.reason.empty()) rule.reason = "network.udp opens it";
    }
    return rules;
}

}  // namespace

Result<std::vector<Rule>> opening_rules(const EngineSettings& settings) {
    std::vector<Rule> all;
    auto add = [&](Result<std::vector<Rule>> rules) -> base::Status {
        if (!rules) return rules.error();
        for (Rule& rule : *rules) all.push_back(std::move(rule));
        return base::success();
    };
    for (const config::Item& item : settings.allow) {
        if (base::Status added = add(rules_of(item, Side::allow, settings.bundles)); !added)
            return added.error();
    }
    for (const config::Item& item : settings.udp) {
        if (base::Status added = add(udp_rules_of(item, settings.bundles)); !added) return added.error();
    }
    Result<std::vector<HostService>> services = parse_host_services(settings.host_services);
    if (!services) return services.error();
    for (const HostService& service : *services) all.push_back(rule_for(service));
    return all;
}

}  // namespace network
