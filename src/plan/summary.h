// SPDX-License-Identifier: MIT
// What the jail may know about itself: the rules about files, variables, hosts and system calls, with reasons
// and origins. It lies in the jail as a file, so that `why` answers inside as it does outside; never the
// values of variables, nor anything about the host that the rules do not say.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "plan/plan.h"

namespace plan {

std::string encode_summary(const Plan& plan);
// What the jail may do, as 64 hexadecimal digits: two sessions with the same are under the same rules.
std::string policy_digest(const Plan& plan);
// A plan with these parts filled in, for explain.h.
base::Result<Plan> decode_summary(std::string_view text);

}  // namespace plan
