// SPDX-License-Identifier: MIT
// Carries out a script in a mount namespace of one's own, and leaves the old root behind.
#pragma once

#include "backends/native/failure.h"
#include "backends/native/script.h"

namespace backends::native {

// The power over the mount namespace is held. `self` is /proc/self of the host, as a directory.
Failure build_view(Script& script, int self);

}  // namespace backends::native
