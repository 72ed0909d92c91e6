// SPDX-License-Identifier: MIT
// Rules in, mounts out: everything depends on the correctness of this translation. It is pure, and a property
// test (tests/plan/mounts_property_test.cc) replays the mounts in a model of the kernel and compares the view
// with the rules.
#pragma once

#include <vector>

#include "host/tree.h"
#include "plan/plan.h"
#include "plan/rules.h"

namespace plan {

// For settled rules, in the order of mounting: parents before children. Seals of covered directories come
// after their children; the caller must add the seal of the root.
std::vector<Mount> render_rules(const Rules& rules, const host::Tree& tree);

}  // namespace plan
