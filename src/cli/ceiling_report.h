// SPDX-License-Identifier: MIT
// A ceiling in words: what in it does nothing or contradicts itself, and what it leaves to users.
#pragma once

#include <string>
#include <vector>

#include "cli/context.h"
#include "policy/merge.h"

namespace cli {

// Rules without effect, contradictions, and what holds for some accounts only. One line each; nothing of it
// keeps a ceiling from being one.
std::vector<std::string> ceiling_warnings(const policy::Effective& effective,
                                          const policy::PathMeaning& paths, const host::Tree& disk);

// Takes the entries out that the warnings say have no effect: nobody may do what they name.
void leave_out_without_effect(policy::Effective& effective, const std::vector<std::string>& warnings);

// "users may: …" and "users may not: …".
std::string ceiling_summary(const policy::Effective& effective, bool is_coloured);

}  // namespace cli
