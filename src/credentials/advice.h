// SPDX-License-Identifier: MIT
// Conflicts between credentials, variables and request rules, for a launch and for `config check`.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "credentials/resolve.h"
#include "policy/policy.h"

namespace credentials {

// Variables that credentials.never_inside matches, that hold a placeholder, or that are the source of a value
// do not pass. An entry of env.allow or env.set for one is refused with 125; one of an agent's profile is
// dropped from `policy`.
// A variable with the same value as one of these in `environment` ("NAME=value") is dropped too, and so are
// further keys that an agent's profile passes for the provider of a credential. Returns one line for each.
base::Result<std::vector<std::string>> settle_variables(const Resolved& resolved,
                                                        std::span<const std::string> environment,
                                                        policy::Policy& policy);

// The shipped credential whose placeholder this variable holds, or empty.
std::string preset_for(std::string_view variable);

// What weakens the rules about requests, one line each: network.literals, entries of requests.allow that
// permit what an entry of a list in requests.block refuses, because they are more specific, and hosts for
// which requests.git alone has entries about pushes.
base::Result<std::vector<std::string>> weakened_rules(const policy::Policy& policy);

// Whether a path can match both patterns.
bool paths_overlap(std::string_view left, std::string_view right);

}  // namespace credentials
