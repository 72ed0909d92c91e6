// SPDX-License-Identifier: MIT
// Whether the mounts of the view are those that were meant.
#pragma once

#include "inner/orders.h"

namespace inner {

// Zero when the target is what the check says, else an errno: ENOENT, ELOOP (a symbolic link stands in the
// path), ESTALE (something else is mounted there), EPERM (nothing is mounted there, or it can be written).
int failure_of(const Check& check);

}  // namespace inner
