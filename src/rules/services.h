// SPDX-License-Identifier: MIT
// Connections between the jail and its surroundings that the user opens: services of the host, ports of the
// jail that are visible on the host, and the site's proxy. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/inside/addresses.h"
#include "base/result.h"
#include "config/value.h"
#include "rules/address.h"
#include "rules/names/name.h"

namespace network {

// The host's name inside the jail. It reaches only the services that the user named.
using base::kHostServiceName;

// network.host_services and --host-port. "5432": the host's own 127.0.0.1:5432, which is
// host.agent-sandbox.internal:5432 inside. "10.1.2.3:5432": one port of one address that the address floor
// closes. Never metadata; never a loopback address by its number.
struct HostService {
    std::optional<Address> address;  // nothing: the host's loopback
    uint16_t port = 0;
    config::Origin origin;
};
base::Result<std::vector<HostService>> parse_host_services(const std::vector<config::Item>& items);
// Whether this is 127.0.0.1 or ::1 with the port of a service on the host's loopback.
bool leads_to_host_port(const std::vector<HostService>& services, const Address& address, uint16_t port);

// --publish. "8080": the host's 127.0.0.1:8080 leads to the jail's 127.0.0.1:8080; "8080:80" to its port 80.
struct Published {
    uint16_t host_port = 0;
    uint16_t jail_port = 0;
    config::Origin origin;
};
base::Result<std::vector<Published>> parse_published(const std::vector<config::Item>& items);
// "8080" or "8080:80".
std::string to_text(const Published& published);
// The origin of ports that are published while a session runs.
inline constexpr std::string_view kPublishVerb = "agent-sandbox publish";

// network.upstream_proxy, or the host's proxy variables. "http://proxy.example.org:3128", with "user:secret@"
// if the proxy requires it. Only HTTP proxies that support CONNECT.
struct UpstreamProxy {
    std::string host;  // a name or an address; set by the user or the site, not by the jail
    uint16_t port = 3128;
    std::string authorization;  // value of Proxy-Authorization, "Basic …"; may be empty. Never printed.
    std::vector<std::string> direct_hosts;  // from no_proxy: names, ".suffix", addresses, CIDR, or "*"
    config::Origin origin;

    bool is_for(const HostName& name) const;
    bool is_for(const Address& address) const;
};
base::Result<UpstreamProxy> parse_upstream_proxy(std::string_view text, std::string_view no_proxy,
                                                 const config::Origin& origin);

}  // namespace network
