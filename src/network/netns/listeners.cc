// SPDX-License-Identifier: MIT
#include "network/netns/listeners.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>

#include "base/inside/addresses.h"
#include "network/netns/addresses.h"

namespace network::netns {
namespace {

constexpr uint16_t kCommonPorts[] = {
    // ssh, web, git
    22,
    80,
    443,
    9418,
    // the gateway's own proxy
    base::kSocksPort,
    base::kProxyPort,
    // DNS over TCP
    base::kNameServerPort,
    // closed ports: telnet, mail, DNS over TLS
    23,
    24,
    25,
    465,
    587,
    2525,
    853,
    // databases and model servers
    1433,
    3306,
    5432,
    6379,
    11434,
    27017,
    // rsync, file servers, directories, databases, queues
    873,
    2049,
    389,
    636,
    1521,
    5671,
    5672,
    // https, Kafka, Elasticsearch
    8443,
    9092,
    9200,
};

// With an empty address: every address of the family.
Endpoint endpoint(Group group, bool is_v6, uint16_t port, std::string_view address = {}) {
    Endpoint made{.group = group, .type = group == Group::tcp ? SOCK_STREAM : SOCK_DGRAM, .is_v6 = is_v6};
    if (is_v6) {
        struct sockaddr_in6 v6 = {};
        v6.sin6_family = AF_INET6;
        v6.sin6_port = htons(port);
        if (!address.empty()) std::memcpy(&v6.sin6_addr, address.data(), address.size());
        std::memcpy(&made.address, &v6, sizeof v6);
        made.length = sizeof v6;
    } else {
        struct sockaddr_in v4 = {};
        v4.sin_family = AF_INET;
        v4.sin_port = htons(port);
        if (!address.empty()) std::memcpy(&v4.sin_addr, address.data(), address.size());
        std::memcpy(&made.address, &v4, sizeof v4);
        made.length = sizeof v4;
    }
    return made;
}

std::string_view bytes(const void* data, size_t size) {
    return {static_cast<const char*>(data), size};
}

Endpoint capture_endpoint(bool is_v6, Capture capture) {
    static constexpr unsigned char kLoopbackV4[] = {127, 0, 0, 1};
    static constexpr unsigned char kLoopbackV6[] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
    bool is_redirected = capture == Capture::redirect;  // the kernel redirects output to loopback
    std::string_view address;
    if (is_v6) {
        address = is_redirected ? bytes(kLoopbackV6, sizeof kLoopbackV6) : bytes(kGatewayV6.data(), 16);
    } else {
        address = is_redirected ? bytes(kLoopbackV4, sizeof kLoopbackV4) : bytes(kGatewayV4.data(), 4);
    }
    return endpoint(Group::tcp, is_v6, kCapturePort, address);
}

}  // namespace

std::vector<uint16_t> common_ports() {
    return {std::begin(kCommonPorts), std::end(kCommonPorts)};
}

std::vector<Endpoint> endpoints_for(const NetworkRequest& request, Capture capture) {
    std::vector<uint16_t> ports = common_ports();
    for (uint16_t port : request.tcp_ports) {
        if (std::ranges::find(ports, port) == ports.end()) ports.push_back(port);
    }
    std::vector<Endpoint> endpoints;
    for (bool is_v6 : {false, true}) {
        if (capture == Capture::listeners) {
            for (uint16_t port : ports) endpoints.push_back(endpoint(Group::tcp, is_v6, port));
        } else {
            endpoints.push_back(capture_endpoint(is_v6, capture));
        }
        endpoints.push_back(endpoint(Group::name_server, is_v6, base::kNameServerPort));
        for (uint16_t port : request.udp_ports) endpoints.push_back(endpoint(Group::udp, is_v6, port));
    }
    return endpoints;
}

}  // namespace network::netns
