// SPDX-License-Identifier: MIT
// The gateway reads bytes that a jailed program chose. Before it reads the first one, it gives up everything
// that it does not need: files, new programs, other processes, listening. It keeps IPv4 and IPv6 sockets and
// the descriptors that it was given.
#pragma once

#include "base/result.h"

namespace network::gateway {

struct Confinement {
    bool has_landlock = false;  // this kernel offers it
};

// On an error the gateway must not serve.
base::Result<Confinement> confine();

}  // namespace network::gateway
