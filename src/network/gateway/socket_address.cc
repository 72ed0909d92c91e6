// SPDX-License-Identifier: MIT
#include "network/gateway/socket_address.h"

#include <arpa/inet.h>

#include <cstring>

namespace network::gateway {

SocketAddress::SocketAddress(const Endpoint& endpoint) : room{} {
    if (endpoint.address.is_v4()) {
        v4.sin_family = AF_INET;
        v4.sin_port = htons(endpoint.port);
        v4.sin_addr = to_in_addr(endpoint.address);
        length = sizeof v4;
        return;
    }
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(endpoint.port);
    v6.sin6_addr = to_in6_addr(endpoint.address);
    length = sizeof v6;
}

std::optional<Endpoint> SocketAddress::endpoint() const {
    if (family() == AF_INET) return Endpoint{address_of(v4.sin_addr), ntohs(v4.sin_port)};
    if (family() == AF_INET6) return Endpoint{address_of(v6.sin6_addr), ntohs(v6.sin6_port)};
    return std::nullopt;
}

std::optional<Endpoint> own_endpoint(int socket) {
    SocketAddress own;
    own.length = sizeof own.room;
    if (::getsockname(socket, &own.any, &own.length) != 0) return std::nullopt;
    return own.endpoint();
}

Address address_of(const struct in_addr& address) {
    std::array<uint8_t, 4> bytes;
    std::memcpy(bytes.data(), &address, bytes.size());
    return Address::from_v4(bytes);
}

Address address_of(const struct in6_addr& address) {
    Address::Bytes bytes;
    std::memcpy(bytes.data(), &address, bytes.size());
    return Address::from_v6(bytes);
}

struct in_addr to_in_addr(const Address& address) {
    struct in_addr made = {};
    std::memcpy(&made, address.bytes().data() + 12, sizeof made);
    return made;
}

struct in6_addr to_in6_addr(const Address& address) {
    struct in6_addr made = {};
    std::memcpy(&made, address.bytes().data(), sizeof made);
    return made;
}

}  // namespace network::gateway
