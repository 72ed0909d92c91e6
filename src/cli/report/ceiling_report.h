// SPDX-License-Identifier: MIT
// A ceiling in words: rules that have no effect or contradict each other, and what users may still do.
#pragma once

#include <string>
#include <vector>

#include "cli/context.h"
#include "policy/merge.h"

namespace cli {

// Rules without effect, contradictions, and rules that apply to some accounts only, one line each. The
// ceiling is valid in spite of them.
std::vector<std::string> ceiling_warnings(const policy::Effective& effective,
                                          const policy::PathMeaning& paths, const host::Tree& disk);

// Removes the entries that a warning reports as without effect, so that the summary does not list them.
void leave_out_without_effect(policy::Effective& effective, const std::vector<std::string>& warnings);

// "users may: …" and "users may not: …".
std::string ceiling_summary(const policy::Effective& effective, bool is_coloured);

}  // namespace cli
