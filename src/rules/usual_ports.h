// SPDX-License-Identifier: MIT
// Ports whose services use HTTP or TLS from the first byte. On a connection by name, other protocols are
// refused there unless a "raw:" rule allows them: the server could read the bytes as a request for another
// name.
#pragma once

#include <cstdint>
#include <string>

namespace network {

// "HTTP (web servers)", "TLS (https)"; empty for every other port.
std::string usual_protocol(uint16_t port);

}  // namespace network
