// SPDX-License-Identifier: MIT
// Checks whether the mounts of the view are the intended ones.
#pragma once

#include "inner/launch_spec.h"

namespace inner {

// Zero if the target matches the check, else an errno: ENOENT, ELOOP (a symbolic link is in the path), ESTALE
// (something else is mounted there), EPERM (nothing is mounted there, or it can be written).
int failure_of(const Check& check);

}  // namespace inner
