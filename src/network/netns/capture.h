// SPDX-License-Identifier: MIT
// Sends nf_tables messages to the kernel directly, without the nft program.
#pragma once

#include "network/netns/recipe.h"

namespace network::netns {

// Directs each TCP connection to kCapturePort, except those to loopback and to the jail's own address. The
// kernel accepts all of it or nothing. Empty if the capture needs no rules.
NetlinkRequest capture_rules(Capture capture, bool has_v6);

}  // namespace network::netns
