// SPDX-License-Identifier: MIT
// nf_tables, spoken to the kernel directly: no nft program is needed.
#pragma once

#include "network/netns/recipe.h"

namespace network::netns {

// Makes each TCP connection to an address other than loopback and the jail's own go to kCapturePort. Taken as
// a whole or not at all; empty where nothing is to be asked of the kernel.
Request capture_rules(Capture capture, bool has_v6);

}  // namespace network::netns
