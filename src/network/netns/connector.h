// SPDX-License-Identifier: MIT
// Sockets of the jail's network namespace for a process that lives outside it: the connector is a process
// without any power that stays in the namespace and, asked for a port, hands out a socket that is connecting
// to the jail's own loopback.
#pragma once

#include <cstdint>

#include "base/file.h"
#include "base/result.h"

namespace network::netns {

// In the connector: serves until the other end of the socket is closed.
[[noreturn]] void serve_connections(int socket);

// In the gateway: a socket that is not blocking and connects to 127.0.0.1 or, with `is_v6`, to ::1. Nobody
// listens: the socket says so when it is ready. The connector answers in microseconds.
base::Result<base::Fd> connect_inside(int connector, uint16_t port, bool is_v6);

}  // namespace network::netns
