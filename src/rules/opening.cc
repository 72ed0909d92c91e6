// SPDX-License-Identifier: MIT
// The rules that allow something, from the three settings that do.
#include "base/parse.h"
#include "rules/engine.h"

namespace network {
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
