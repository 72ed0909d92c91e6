// SPDX-License-Identifier: MIT
// For callers of run() that start the jail's first process before they make the plan.
#pragma once

#include "backends/native/early_child.h"

namespace session {

using backends::native::EarlyChild;

}  // namespace session
