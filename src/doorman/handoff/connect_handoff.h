// SPDX-License-Identifier: MIT
// A TCP connection of the caller's that ends at the gateway.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "doorman/caller.h"

namespace doorman {

// The note that goes with a connection which is handed to the gateway: where its client wanted to go.

struct Destination {
    bool is_v6 = false;
    unsigned char address[16] = {};  // the first four bytes where it is IPv4
    uint16_t port = 0;

    bool operator==(const Destination&) const = default;
};

// "tcp 192.0.2.1 443", "tcp 2001:db8::1 443"
std::string encode(const Destination& destination);
std::optional<Destination> decode(std::string_view note);

// An address as the caller wrote it, read once.
struct Address {
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
        struct sockaddr_storage room;
    };
    socklen_t length = 0;

    Address() : room{} {}
    int family() const { return any.sa_family; }
};

// Whether it is an address of the machine's own loopback, or the unspecified one, which means the same.
bool leads_to_loopback(const Address& address);
// Whether it is 127.0.0.1 or ::1 with one of these ports.
bool leads_to_host_port(const Address& address, const std::vector<uint16_t>& ports);

// `socket` is the caller's, of an Internet family, and `gateway` a socket that does not block. What connect()
// returns to the caller: zero or an errno.
int hand_over(int socket, const Address& wanted, int gateway);

// The other end of `socket` among those who have connected to `listener`, which does not block; strangers are
// turned away. None: it did not come.
base::Fd accept_peer_of(int listener, int socket);

}  // namespace doorman
