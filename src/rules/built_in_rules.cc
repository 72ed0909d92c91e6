// SPDX-License-Identifier: MIT
#include "rules/built_in_rules.h"

#include <algorithm>
#include <string_view>

#include "base/text.h"
#include "rules/names/name.h"

namespace network {
namespace {

using base::Error;
using base::Result;

enum class Opening { never, by_setting };

struct FloorText {
    std::string_view prefix;
    Opening opening;
    std::string_view reason;
};

// The first row that contains the address decides, so single addresses come before the ranges around them.
constexpr FloorText kAddressFloor[] = {
    {"100.100.100.200/32", Opening::never, "instance metadata of Alibaba Cloud: credentials of the machine"},
    {"168.63.129.16/32", Opening::never, "the platform's own service in Azure: secrets of the machine"},
    {"192.0.0.192/32", Opening::never, "instance metadata of Oracle Cloud: credentials of the machine"},
    {"fd00:ec2::/32", Opening::never, "instance metadata and services of AWS: credentials of the machine"},
    {"fd20:ce::/32", Opening::never, "instance metadata of Google Cloud: credentials of the machine"},
    {"fd00:c1::/32", Opening::never, "instance metadata of Oracle Cloud: credentials of the machine"},
    {"fd00:42::/32", Opening::never, "instance metadata of Scaleway: credentials of the machine"},

    {"0.0.0.0/8", Opening::never, "this host itself"},
    {"127.0.0.0/8", Opening::never,
     "loopback: services of this host that trust every process that reaches them"},
    {"169.254.0.0/16", Opening::never, "link-local: instance metadata and its credentials are here"},
    {"192.0.0.0/24", Opening::never, "reserved for protocols"},
    {"198.18.0.0/15", Opening::never, "reserved for tests; the gateway's own answers lie here"},
    {"224.0.0.0/4", Opening::never, "multicast: many hosts of the local network at once"},
    {"240.0.0.0/4", Opening::never, "reserved and broadcast"},
    {"10.0.0.0/8", Opening::by_setting, "a private network"},
    {"172.16.0.0/12", Opening::by_setting, "a private network"},
    {"192.168.0.0/16", Opening::by_setting, "a private network"},
    {"100.64.0.0/10", Opening::by_setting, "shared by carriers and overlay networks: private to the site"},

    {"::1/128", Opening::never, "loopback: services of this host that trust every process that reaches them"},
    {"::/128", Opening::never, "this host itself"},
    {"::/8", Opening::never, "reserved: loopback and IPv4 in disguise"},
    {"fe80::/10", Opening::never, "link-local: the neighbours of this host"},
    {"fec0::/10", Opening::never, "site-local of the old kind: private, and out of use"},
    {"ff00::/8", Opening::never, "multicast: many hosts of the local network at once"},
    {"fc00::/7", Opening::by_setting, "a private network"},
};

struct FloorRow {
    Prefix prefix;
    const FloorText* text;
};

const std::vector<FloorRow>& address_floor() {
    static const std::vector<FloorRow> rows = [] {
        std::vector<FloorRow> parsed;
        for (const FloorText& text : kAddressFloor) parsed.push_back({*Prefix::parse(text.prefix), &text});
        return parsed;
    }();
    return rows;
}

const FloorText* find_row(const Address& address) {
    auto found = std::ranges::find_if(address_floor(),
                                      [&](const FloorRow& row) { return row.prefix.contains(address); });
    return found == address_floor().end() ? nullptr : found->text;
}

struct ClosedPort {
    uint16_t port;
    std::string_view reason;
};

constexpr ClosedPort kPortFloor[] = {
    {23, "telnet: passwords and sessions in clear text"},
    {24, "mail in the name of the account (private mail systems)"},
    {25, "mail in the name of the account (SMTP)"},
    {79, "finger tells who works here"},
    {113, "ident vouches for accounts"},
    {465, "mail in the name of the account (SMTP over TLS)"},
    {512, "rexec runs commands on other hosts by trust in this one"},
    {513, "rlogin opens sessions on other hosts by trust in this one"},
    {514, "rsh runs commands on other hosts by trust in this one, and syslog takes forged entries"},
    {587, "mail in the name of the account (submission)"},
    {853, "DNS over TLS or QUIC: names that no rule would see"},
    {2525, "mail in the name of the account (submission on another port)"},
};

Error refusal(const config::Item& item, std::string_view why, std::string advice) {
    return Error{.what = base::format("network.private can't open {}: {}", in_quotes(item.text), why),
                 .advice = std::move(advice),
                 .where = item.origin.describe()};
}

base::Status check_can_be_private(const config::Item& item, const Prefix& attempt) {
    constexpr std::string_view kAdvice =
        "open a part of 10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16, 100.64.0.0/10 or fc00::/7";
    for (const FloorRow& row : address_floor()) {
        if (!row.prefix.contains(attempt)) continue;
        if (row.text->opening == Opening::by_setting) return base::success();
        return refusal(item, row.text->reason, std::string(kAdvice));
    }
    bool is_wider = std::ranges::any_of(address_floor(),
                                        [&](const FloorRow& row) { return attempt.contains(row.prefix); });
    if (is_wider) return refusal(item, "it holds more than one private network", std::string(kAdvice));
    return refusal(item, "it is not a private network", "open public addresses by network.allow");
}

}  // namespace

std::optional<ClosedAddress> find_closed(const Address& address, std::span<const Prefix> opened) {
    bool reaches_open_host = false;
    for (const Embedded& inner : embedded_addresses(address)) {
        if (const FloorText* row = find_row(inner.address)) {
            return ClosedAddress{.row = base::format("{} in {}", row->prefix, inner.form),
                                 .reason = std::string(row->reason),
                                 .can_be_opened = false};
        }
        // A site without IPv4 reaches all of IPv4 through NAT64, whose prefixes are within ::/8.
        reaches_open_host = reaches_open_host || inner.is_same_host;
    }
    if (reaches_open_host) return std::nullopt;
    const FloorText* row = find_row(address);
    if (!row) return std::nullopt;
    bool can_be_opened = row->opening == Opening::by_setting;
    auto has_address = [&](const Prefix& prefix) { return prefix.contains(address); };
    if (can_be_opened && std::ranges::any_of(opened, has_address)) return std::nullopt;
    return ClosedAddress{std::string(row->prefix), std::string(row->reason), can_be_opened};
}

Result<std::vector<Prefix>> parse_private_networks(const std::vector<config::Item>& items) {
    std::vector<Prefix> networks;
    for (const config::Item& item : items) {
        Result<Prefix> network = Prefix::parse(item.text);
        if (!network) {
            Error error = network.error();
            error.where = item.origin.describe();
            return error;
        }
        if (base::Status fits = check_can_be_private(item, *network); !fits) return fits.error();
        networks.push_back(*network);
    }
    return networks;
}

std::string_view reason_for_closed_port(uint16_t port) {
    const ClosedPort* found = std::ranges::find(kPortFloor, port, &ClosedPort::port);
    return found == std::end(kPortFloor) ? std::string_view() : found->reason;
}

namespace {

// Registered for HTTP or TLS, or the default of a widespread server. Not listed: ports that another protocol
// uses as often (9000: FastCGI and ClickHouse; 50051: gRPC without TLS, which is HTTP/2 and refused as such),
// and services that begin unencrypted and switch to TLS (PostgreSQL, MySQL, LDAP, FTP, XMPP, IMAP, POP3).
struct UsualPort {
    uint16_t first;
    uint16_t last;
    std::string_view protocol;
    std::string_view service;
};
constexpr UsualPort kUsualPorts[] = {
    {80, 81, "HTTP", "web servers"},
    {280, 280, "HTTP", "http-mgmt"},
    {591, 593, "HTTP", "http-alt, http-rpc-epmap"},
    {631, 631, "HTTP", "printing (IPP)"},
    {2375, 2375, "HTTP", "Docker in clear"},
    {2379, 2380, "HTTP", "etcd"},
    {3000, 3000, "HTTP", "development servers, Grafana"},
    {3128, 3128, "HTTP", "proxies"},
    {4200, 4200, "HTTP", "development servers"},
    {5000, 5001, "HTTP", "development servers, registries"},
    {5173, 5173, "HTTP", "development servers"},
    {5601, 5601, "HTTP", "Kibana"},
    {5984, 5985, "HTTP", "CouchDB, WinRM"},
    {7474, 7474, "HTTP", "Neo4j's browser"},
    {8000, 8010, "HTTP", "development servers, http-alt"},
    {8080, 8090, "HTTP", "http-alt, proxies"},
    {8123, 8123, "HTTP", "ClickHouse over HTTP"},
    {8200, 8200, "HTTP", "Vault"},
    {8500, 8500, "HTTP", "Consul"},
    {8888, 8888, "HTTP", "notebooks"},
    {8983, 8983, "HTTP", "Solr"},
    {9090, 9091, "HTTP", "Prometheus"},
    {9200, 9200, "HTTP", "Elasticsearch"},
    {11434, 11434, "HTTP", "models at Ollama"},
    {15672, 15672, "HTTP", "RabbitMQ's management"},
    {443, 443, "TLS", "https"},
    {563, 563, "TLS", "nntps"},
    {636, 636, "TLS", "ldaps"},
    {832, 832, "TLS", "netconf over TLS"},
    {981, 981, "TLS", "firewall management"},
    {989, 990, "TLS", "ftps"},
    {992, 995, "TLS", "telnets, imaps, pop3s"},
    {1443, 1443, "TLS", "https of appliances"},
    {2083, 2083, "TLS", "cPanel, RADIUS over TLS"},
    {2087, 2087, "TLS", "cPanel"},
    {2096, 2096, "TLS", "cPanel"},
    {2376, 2376, "TLS", "Docker"},
    {3269, 3269, "TLS", "global catalogue over TLS"},
    {4443, 4443, "TLS", "https-alt"},
    {5061, 5061, "TLS", "sips"},
    {5223, 5223, "TLS", "XMPP over TLS"},
    {5671, 5671, "TLS", "amqps"},
    {5986, 5986, "TLS", "WinRM"},
    {6443, 6443, "TLS", "Kubernetes"},
    {6514, 6514, "TLS", "syslog over TLS"},
    {6679, 6679, "TLS", "ircs"},
    {6697, 6697, "TLS", "ircs"},
    {7443, 7443, "TLS", "https-alt"},
    {8443, 8444, "TLS", "https-alt"},
    {8501, 8501, "TLS", "Consul"},
    {8883, 8883, "TLS", "mqtts"},
    {9443, 9443, "TLS", "https-alt"},
    {10250, 10250, "TLS", "Kubernetes' nodes"},
    {10443, 10443, "TLS", "https-alt"},
};

}  // namespace

std::string usual_protocol(uint16_t port) {
    for (const UsualPort& row : kUsualPorts) {
        if (port >= row.first && port <= row.last) return base::format("{} ({})", row.protocol, row.service);
    }
    return "";
}

}  // namespace network
