// SPDX-License-Identifier: MIT
// The gateway's listeners inside a network namespace.
#pragma once

#include "network/netns/recipe.h"

namespace network::netns {

// Ports with a listener each, for kernels that cannot direct all ports to one listener: the most used ones,
// the closed ones with a refusal in their own protocol, and DNS. It contains no port that users choose for
// their own servers (3000, 5000, 8000, 8080 …), because our listener would block them.
std::vector<uint16_t> common_ports();

// The endpoints for `request` and `capture`: first all of IPv4, then all of IPv6, in the order of the groups.
std::vector<Endpoint> endpoints_for(const NetworkRequest& request, Capture capture);

}  // namespace network::netns
