// SPDX-License-Identifier: MIT
// What the stage lays around the command besides the view: a keyring of its own, no core dumps, the filter of
// system calls and the second wall.
#pragma once

#include "inner/orders.h"

namespace inner {

// A session keyring that the caller's keys are not in. Zero or an errno.
int leave_keyring(const Orders& orders);

// No crash in the jail is told to the host.
void forbid_core_dumps();

}  // namespace inner
