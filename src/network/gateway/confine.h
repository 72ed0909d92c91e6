// SPDX-License-Identifier: MIT
// The gateway reads bytes that a jailed program chose, so it gives up all that it does not need before it
// reads the first one: files, new programs, other processes, listening. What stays: sockets of IPv4 and IPv6,
// and the descriptors that it was given.
#pragma once

#include "base/result.h"

namespace network::gateway {

struct Confinement {
    bool has_landlock = false;  // this kernel offers it
};

// An error means that nothing may be served.
base::Result<Confinement> confine();

}  // namespace network::gateway
