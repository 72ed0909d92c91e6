// SPDX-License-Identifier: MIT
#include "network/netns/listeners.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>

#include "network/netns/addresses.h"

namespace network::netns {
namespace {

constexpr int kBacklog = 4096;
constexpr uint16_t kNameServerPort = 53;

constexpr uint16_t kCommonPorts[] = {
    22,
    80,
    443,
    9418,  // ssh, web, git
    1080,
    3128,             // the gateway's own proxy face
    kNameServerPort,  // DNS over TCP
    23,
    24,
    25,
    465,
    587,
    2525,
    853,  // closed, and refused with a word
    1433,
    3306,
    5432,
    6379,
    11434,
    27017,  // databases and model servers
    873,
    2049,
    389,
    636,
    1521,
    5671,
    5672,  // rsync, directories, queues
    8443,
    9092,
    9200,
};

struct Endpoint {
    int family;
    bool is_any;  // every address of the family; else `address`
    std::string_view address;
    uint16_t port;
};

struct AnyAddress {
    struct sockaddr_storage storage = {};
    socklen_t length = 0;
};

AnyAddress socket_address(const Endpoint& endpoint) {
    AnyAddress result;
    if (endpoint.family == AF_INET) {
        auto* v4 = reinterpret_cast<struct sockaddr_in*>(&result.storage);
        v4->sin_family = AF_INET;
        v4->sin_port = htons(endpoint.port);
        if (!endpoint.is_any) std::memcpy(&v4->sin_addr, endpoint.address.data(), sizeof v4->sin_addr);
        result.length = sizeof *v4;
    } else {
        auto* v6 = reinterpret_cast<struct sockaddr_in6*>(&result.storage);
        v6->sin6_family = AF_INET6;
        v6->sin6_port = htons(endpoint.port);
        if (!endpoint.is_any) std::memcpy(&v6->sin6_addr, endpoint.address.data(), sizeof v6->sin6_addr);
        result.length = sizeof *v6;
    }
    return result;
}

void set(int socket, int level, int option) {
    int on = 1;
    ::setsockopt(socket, level, option, &on, sizeof on);
}

// Bound, with the options that each family has under its own name.
base::Fd bound_socket(const Endpoint& endpoint, int type) {
    base::Fd socket(::socket(endpoint.family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!socket) return socket;
    bool is_v6 = endpoint.family == AF_INET6;
    set(socket.get(), SOL_SOCKET, SO_REUSEADDR);
    if (is_v6) set(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY);
    if (type == SOCK_STREAM) {
        // TPROXY hands packets only to listeners with this; it needs the power that is held here.
        if (is_v6) {
            set(socket.get(), IPPROTO_IPV6, IPV6_TRANSPARENT);
        } else {
            set(socket.get(), IPPROTO_IP, IP_TRANSPARENT);
        }
    } else if (is_v6) {
        set(socket.get(), IPPROTO_IPV6, IPV6_RECVPKTINFO);
    } else {
        set(socket.get(), IPPROTO_IP, IP_PKTINFO);
    }
    AnyAddress address = socket_address(endpoint);
    if (::bind(socket.get(), reinterpret_cast<struct sockaddr*>(&address.storage), address.length) != 0)
        return {};
    if (type == SOCK_STREAM && ::listen(socket.get(), kBacklog) != 0) return {};
    return socket;
}

std::string_view bytes(const void* data, size_t size) {
    return {static_cast<const char*>(data), size};
}

Endpoint capture_endpoint(int family, Capture capture) {
    static constexpr unsigned char kLoopbackV4[] = {127, 0, 0, 1};
    static constexpr unsigned char kLoopbackV6[] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
    bool is_redirected = capture == Capture::redirect;  // to loopback, as the kernel does on the way out
    std::string_view address;
    if (family == AF_INET) {
        address = is_redirected ? bytes(kLoopbackV4, sizeof kLoopbackV4) : bytes(kGatewayV4.data(), 4);
    } else {
        address = is_redirected ? bytes(kLoopbackV6, sizeof kLoopbackV6) : bytes(kGatewayV6.data(), 16);
    }
    return {family, false, address, kCapturePort};
}

}  // namespace

std::vector<uint16_t> common_ports() {
    return {std::begin(kCommonPorts), std::end(kCommonPorts)};
}

int open_listeners(const Wanted& wanted, Capture capture, Listeners& listeners, std::string& at) {
    auto open = [&](const Endpoint& endpoint, int type, std::vector<base::Fd>& into) {
        base::Fd socket = bound_socket(endpoint, type);
        if (!socket) {
            at = "port " + std::to_string(endpoint.port);
            return errno;
        }
        into.push_back(std::move(socket));
        return 0;
    };
    std::vector<uint16_t> ports = common_ports();
    for (uint16_t port : wanted.tcp_ports) {
        if (std::ranges::find(ports, port) == ports.end()) ports.push_back(port);
    }
    for (int family : {AF_INET, AF_INET6}) {
        if (family == AF_INET6 && !listeners.has_v6) continue;
        int number = open({family, true, {}, kNameServerPort}, SOCK_DGRAM, listeners.name_servers);
        for (uint16_t port : wanted.udp_ports) {
            if (number == 0) number = open({family, true, {}, port}, SOCK_DGRAM, listeners.udp);
        }
        if (capture != Capture::listeners && number == 0) {
            number = open(capture_endpoint(family, capture), SOCK_STREAM, listeners.tcp);
        }
        for (uint16_t port : ports) {
            if (capture == Capture::listeners && number == 0) {
                number = open({family, true, {}, port}, SOCK_STREAM, listeners.tcp);
            }
        }
        if (number != 0) return number;
    }
    return 0;
}

}  // namespace network::netns
