// SPDX-License-Identifier: MIT
// Ports whose services speak HTTP or TLS from the first byte. What is neither is refused there on a
// connection by name, unless a rule says "raw:": the server could read it as a request for another name.
#pragma once

#include <cstdint>
#include <string>

namespace network {

// "HTTP (web servers)", "TLS (https)"; empty for every other port.
std::string usual_protocol(uint16_t port);

}  // namespace network
