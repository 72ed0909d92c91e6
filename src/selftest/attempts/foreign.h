// SPDX-License-Identifier: MIT
// System calls by another convention than this program's (32-bit, x32). A filter that checks only its own
// convention would allow them.
#pragma once

#include "selftest/catalogue.h"

namespace selftest {

void add_foreign_calls(Probes& probes);

}  // namespace selftest
