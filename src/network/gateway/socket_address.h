// SPDX-License-Identifier: MIT
// Converts addresses and ports between the kernel's types and ours.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>
#include <optional>

#include "rules/address.h"

namespace network::gateway {

struct Endpoint {
    Address address;
    uint16_t port = 0;
    auto operator<=>(const Endpoint&) const = default;
};

struct SocketAddress {
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
        struct sockaddr_storage room;
    };
    socklen_t length = 0;

    SocketAddress() : room{} {}
    // An IPv4 address makes an IPv4 socket address.
    explicit SocketAddress(const Endpoint& endpoint);

    int family() const { return any.sa_family; }
    // Nothing if the family is neither IPv4 nor IPv6.
    std::optional<Endpoint> endpoint() const;
};

// getsockname(2).
std::optional<Endpoint> own_endpoint(int socket);

Address address_of(const struct in_addr& address);
Address address_of(const struct in6_addr& address);
struct in_addr to_in_addr(const Address& address);  // of an IPv4 address
struct in6_addr to_in6_addr(const Address& address);

}  // namespace network::gateway
