// SPDX-License-Identifier: MIT
#include "cli/report/network_entries.h"

#include <algorithm>

#include "network/requests/rules.h"
#include "rules/egress.h"
#include "rules/names/name.h"

namespace cli {
namespace {

using config::Item;
using Items = std::vector<Item>;
using network::EngineSettings;

base::Status check_engine(const EngineSettings& rules) {
    base::Result<network::Engine> engine = network::Engine::make(rules);
    return engine ? base::success() : base::Status(engine.error());
}

base::Status check_udp(const Items& items) {
    network::Egress egress;
    egress.rules.udp = items;
    if (base::Status made = check_engine(egress.rules); !made) return made;
    return network::find_ports(egress);
}

base::Status check_services(const Items& items) {
    base::Result<std::vector<network::HostService>> services = network::parse_host_services(items);
    return services ? base::success() : base::Status(services.error());
}

base::Status check_published(const Items& items) {
    base::Result<std::vector<network::Published>> ports = network::parse_published(items);
    return ports ? base::success() : base::Status(ports.error());
}

base::Status check_types(const Items& items) {
    base::Result<std::vector<uint16_t>> types = network::parse_record_types(items);
    return types ? base::success() : base::Status(types.error());
}

base::Status check_proxy(const Items& items) {
    const Item& item = items.front();
    if (item.text == "none") return base::success();
    base::Result<network::UpstreamProxy> proxy = network::parse_upstream_proxy(item.text, "", item.origin);
    return proxy ? base::success() : base::Status(proxy.error());
}

base::Status check_requests(const network::requests::RequestSettings& settings) {
    base::Result<network::requests::RequestRules> rules = network::requests::RequestRules::make(settings);
    return rules ? base::success() : base::Status(rules.error());
}

struct Reader {
    std::string_view key;
    base::Status (*check)(const Items& items);
};

constexpr Reader kReaders[] = {
    {"network.block", [](const Items& items) { return check_engine({.block = items}); }},
    {"network.allow", [](const Items& items) { return check_engine({.allow = items}); }},
    {"network.private", [](const Items& items) { return check_engine({.private_networks = items}); }},
    {"network.udp", check_udp},
    {"network.host_services", check_services},
    {"network.publish", check_published},
    {"network.dns_types", check_types},
    {"network.upstream_proxy", check_proxy},
    {"requests.allow", [](const Items& items) { return check_requests({.allow = items}); }},
    {"requests.ask", [](const Items& items) { return check_requests({.ask = items}); }},
    {"requests.block", [](const Items& items) { return check_requests({.block = items}); }},
    {"requests.git", [](const Items& items) { return check_requests({.git = items}); }},
    {"requests.opaque", [](const Items& items) { return check_requests({.opaque = items}); }},
};

Items items_of(const config::Values& values, std::string_view key) {
    auto value = values.find(key);
    return value == values.end() ? Items() : value->second.items;
}

}  // namespace

base::Status check_network_entry(const config::Setting& setting, const Item& item) {
    const Reader* reader = std::ranges::find(kReaders, setting.key, &Reader::key);
    return reader == std::end(kReaders) ? base::success() : reader->check({item});
}

std::vector<base::Error> network_problems(const config::Values& values) {
    std::vector<base::Error> problems;
    for (const Reader& reader : kReaders) {
        auto value = values.find(reader.key);
        if (value == values.end()) continue;
        Items items = value->second.items;
        if (!value->second.text.empty()) items.push_back({value->second.text, value->second.origin});
        for (const Item& item : items) {
            if (base::Status good = reader.check({item}); !good) problems.push_back(good.error());
        }
    }
    return problems;
}

std::vector<std::string> network_warnings(const config::Values& values) {
    base::Result<network::Engine> engine =
        network::Engine::make({.block = items_of(values, "network.block"),
                               .allow = items_of(values, "network.allow"),
                               .private_networks = items_of(values, "network.private"),
                               .host_services = items_of(values, "network.host_services"),
                               .udp = items_of(values, "network.udp")});
    return engine ? engine->warnings() : std::vector<std::string>();
}

}  // namespace cli
