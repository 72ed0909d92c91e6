// SPDX-License-Identifier: MIT
// Rules in, mounts out: the translation whose correctness everything rests on. It is pure, and a property
// test (tests/plan/mounts_property_test.cc) replays the mounts in a model of the kernel and compares the view
// with the rules.
#pragma once

#include <vector>

#include "host/tree.h"
#include "plan/plan.h"
#include "plan/rules.h"

namespace plan {

// For settled rules, in the order of mounting: parents before children. Seals of covered directories come
// behind their children; the seal of the root is the caller's to add.
std::vector<Mount> render_rules(const Rules& rules, const host::Tree& tree);

}  // namespace plan
