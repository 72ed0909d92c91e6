// SPDX-License-Identifier: MIT
// Files and links that the stage lays into an empty home of the jail's own, for a backend that can't.
#pragma once

#include "inner/orders.h"

namespace inner {

// What is there already gives way. As far as it can be done: what is missing is missed by nobody but the
// user, and no promise rests on it. The place must be the jail's own: a check has shown that it is not the
// host's.
void lay(const std::vector<Laid>& laid);

}  // namespace inner
