// SPDX-License-Identifier: MIT
// nf_tables, spoken to the kernel directly: no nft program is needed.
#pragma once

#include "network/netns/set_up.h"

namespace network::netns {

// Makes each TCP connection to an address other than loopback and the jail's own go to kCapturePort, in the
// namespace that this process is in. Zero or an errno; then nothing was changed.
int install_capture(Capture capture, bool has_v6);

}  // namespace network::netns
