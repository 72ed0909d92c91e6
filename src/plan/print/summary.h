// SPDX-License-Identifier: MIT
// What the jail may read about itself: the rules about files, variables, hosts and system calls, with reasons
// and origins. It is a file in the jail, so that `why` gives the same answer inside and outside. It never
// contains values of variables, nor anything about the host beyond the rules.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "plan/plan.h"

namespace plan {

std::string encode_summary(const Plan& plan);
// What the jail may do, as 64 hexadecimal digits: two sessions with equal digests have the same rules.
std::string policy_digest(const Plan& plan);
// A plan with only these parts filled in, for explain.h.
base::Result<Plan> decode_summary(std::string_view text);

}  // namespace plan
