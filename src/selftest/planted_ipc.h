// SPDX-License-Identifier: MIT
// Secrets that lie outside the scratch directory: shared memory, queues, a key, a file in /tmp. What this
// host can't have stays empty in the world.
#pragma once

#include <string>

#include "selftest/world.h"

namespace selftest {

void plant_ipc(World& world, const std::string& tag);
void remove_ipc(const World& world);

// What the probes compare with: namespaces of this process, another user's home, an address of this host.
void describe_host(World& world);

}  // namespace selftest
