// SPDX-License-Identifier: MIT
// The loopback device of the namespace that this process is in.
#pragma once

namespace network::netns {

// Waits until somebody raised it, at most `milliseconds`. Zero or an errno.
int await_loopback(int milliseconds);

// The jail's own address and the route that makes every address local. Zero or an errno.
int add_address_and_route(int family);

}  // namespace network::netns
