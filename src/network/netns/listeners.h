// SPDX-License-Identifier: MIT
// Sockets of the namespace that this process is in, for the gateway outside.
#pragma once

#include "network/netns/set_up.h"

namespace network::netns {

// Ports that are listened on where the kernel can't send all of them to one: what programs use most, the
// closed ones that refuse in their own protocol, and DNS. No port that people give their own servers (3000,
// 5000, 8000, 8080 …): a listener of ours would be in their way.
std::vector<uint16_t> common_ports();

// What `wanted` asks for, by `capture`. Zero or an errno; `at` says at which port.
int open_listeners(const Wanted& wanted, Capture capture, Listeners& listeners, std::string& at);

}  // namespace network::netns
