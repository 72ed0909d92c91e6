// SPDX-License-Identifier: MIT
#include "rules/usual_ports.h"

#include <string_view>

#include "base/format.h"

namespace network {
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
