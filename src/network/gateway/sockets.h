// SPDX-License-Identifier: MIT
// Addresses and ports in the kernel's types, and UDP sockets in the jail's network namespace.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "rules/address.h"

namespace network::gateway {

// Converts addresses and ports between the kernel's types and ours.

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

// getsockname(2), getpeername(2).
std::optional<Endpoint> own_endpoint(int socket);
std::optional<Endpoint> peer_endpoint(int socket);

Address address_of(const struct in_addr& address);
Address address_of(const struct in6_addr& address);
struct in_addr to_in_addr(const Address& address);  // of an IPv4 address
struct in6_addr to_in6_addr(const Address& address);

// UDP sockets that are bound to one port of every address in the jail's network namespace. The kernel reports
// the address that a datagram was sent to, and the reply leaves from that address: a program that queried
// 8.8.8.8 accepts a reply only from there.

// Makes the kernel report that address, and allows replies from addresses that no device has. Sets
// O_NONBLOCK.
void prepare_datagram_socket(int socket);

struct ReceivedDatagram {
    std::string_view payload;  // points into the caller's buffer
    SocketAddress from;
    Address to;
};
enum class ReceiveStep { received, skipped, nothing_left };
struct Receipt {
    ReceiveStep step = ReceiveStep::nothing_left;
    ReceivedDatagram datagram;
};
// Skipped: the error of an earlier reply, a truncated datagram, or one without its destination address.
Receipt receive_datagram(int socket, std::span<char> bytes);

// Best effort: UDP may drop the datagram.
bool send_datagram(int socket, std::string_view payload, const SocketAddress& to, const Address& from);

}  // namespace network::gateway
