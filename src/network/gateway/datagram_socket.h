// SPDX-License-Identifier: MIT
// UDP sockets that are bound to a port of every address in the jail's world. The kernel tells which address a
// datagram was sent to, and answers leave from that one: a program that asked 8.8.8.8 takes no answer from
// anybody else.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "network/gateway/socket_address.h"

namespace network::gateway {

// Makes the kernel tell, and lets answers leave from addresses that no device has. Not blocking from here on.
void prepare_datagram_socket(int socket);

struct ReceivedDatagram {
    std::string_view payload;  // in the buffer that was given
    SocketAddress from;
    Address to;
};
enum class ReceiveStep { received, skipped, nothing_left };
struct Receipt {
    ReceiveStep step = ReceiveStep::nothing_left;
    ReceivedDatagram datagram;
};
// Skipped: an error of an earlier answer, a datagram that was cut or one that does not say where it was sent
// to.
Receipt receive_datagram(int socket, std::span<char> buffer);

// Best effort, as UDP is.
bool send_datagram(int socket, std::string_view payload, const SocketAddress& to, const Address& from);

}  // namespace network::gateway
