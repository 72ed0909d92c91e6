// SPDX-License-Identifier: MIT
// A TCP connection of the caller's that ends at the gateway.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include "doorman/caller.h"

namespace doorman {

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

// `socket` is the caller's, of an Internet family, and `gateway` a socket that does not block. What connect()
// returns to the caller: zero or an errno.
int hand_over(int socket, const Address& wanted, int gateway);

// The other end of `socket` among those who have connected to `listener`, which does not block; strangers are
// turned away. None: it did not come.
base::Fd accept_peer_of(int listener, int socket);

}  // namespace doorman
