// SPDX-License-Identifier: MIT
// UDP sockets that are bound to one port of every address in the jail's network namespace. The kernel reports
// the address that a datagram was sent to, and the reply leaves from that address: a program that queried
// 8.8.8.8 accepts a reply only from there.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "network/gateway/socket_address.h"

namespace network::gateway {

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
Receipt receive_datagram(int socket, std::span<char> buffer);

// Best effort: UDP may drop the datagram.
bool send_datagram(int socket, std::string_view payload, const SocketAddress& to, const Address& from);

}  // namespace network::gateway
