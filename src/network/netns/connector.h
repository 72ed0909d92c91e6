// SPDX-License-Identifier: MIT
// Sockets of the jail's network namespace for a process outside of it. The connector is a process without
// capabilities that stays in the namespace. For each requested port it passes a socket that is connecting to
// the jail's own loopback.
#pragma once

#include <cstdint>

#include "base/file.h"
#include "base/result.h"

namespace network::netns {

// In the connector: serves until the other end of the socket is closed.
[[noreturn]] void serve_connections(int socket);

// In the gateway: a non-blocking socket that connects to 127.0.0.1 or, with `is_v6`, to ::1. If no program
// listens there, the socket reports the error when it is ready. The connector answers in microseconds.
base::Result<base::Fd> connect_inside(int connector, uint16_t port, bool is_v6);

}  // namespace network::netns
