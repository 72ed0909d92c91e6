// SPDX-License-Identifier: MIT
// Executes a script in the process's own mount namespace, and detaches the old root.
#pragma once

#include "backends/native/script.h"

namespace backends::native {

// The process must have all capabilities over its mount namespace. `self` is /proc/self of the host, as a
// directory.
Failure build_view(Script& script, int self);

}  // namespace backends::native
