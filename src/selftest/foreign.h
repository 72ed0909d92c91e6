// SPDX-License-Identifier: MIT
// Calls by another convention than that of this program (32-bit, x32), which a filter that knows only its own
// would let through.
#pragma once

#include "selftest/catalogue.h"

namespace selftest {

void add_foreign_calls(Probes& probes);

}  // namespace selftest
