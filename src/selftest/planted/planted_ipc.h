// SPDX-License-Identifier: MIT
// Secrets outside the scratch directory: shared memory, queues, a key, a file in /tmp. Entries that are
// impossible on this host stay empty in the world.
#pragma once

#include <string>

#include "selftest/planted/world.h"

namespace selftest {

void plant_ipc(World& world, const std::string& tag);
void remove_ipc(const World& world);

// Values that the probes compare with: namespaces of this process, another user's home, an address of this
// host.
void describe_host(World& world);

}  // namespace selftest
