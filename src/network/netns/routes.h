// SPDX-License-Identifier: MIT
// The loopback device of a network namespace.
#pragma once

#include "network/netns/recipe.h"

namespace network::netns {

// Waits until another process has raised it, at most `milliseconds`. Zero or an errno.
int await_loopback(int milliseconds);

struct DeviceWishes {
    bool is_raised = false;         // raise the device, if no other process does
    bool makes_world_local = true;  // the jail's own address and the route that makes every address local
};
NetlinkRequest device_requests(DeviceWishes wishes);

}  // namespace network::netns
