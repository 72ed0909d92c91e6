// SPDX-License-Identifier: MIT
// Where the gateway listens inside a network namespace.
#pragma once

#include "network/netns/recipe.h"

namespace network::netns {

// Ports that are listened on where the kernel can't send all of them to one: what programs use most, the
// closed ones that refuse in their own protocol, and DNS. No port that people give their own servers (3000,
// 5000, 8000, 8080 …): a listener of ours would be in their way.
std::vector<uint16_t> common_ports();

// What `wanted` asks for, by `capture`; first all of IPv4, then all of IPv6, in the order of the groups.
std::vector<Endpoint> endpoints_for(const Wanted& wanted, Capture capture);

}  // namespace network::netns
