// SPDX-License-Identifier: MIT
// The network mode that is reached, and what is allowed in it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "policy/policy.h"

namespace plan {

// The mode that is reached where only `offered` work: `strict` accepts no other, `stricter` the least strict
// of the stricter ones, `open` the strictest of the less strict ones.
std::optional<policy::NetworkMode> reachable_mode(policy::NetworkMode asked, policy::NetworkFallback fallback,
                                                  std::span<const policy::NetworkMode> offered);

// The variables that name the site's proxy.
bool is_proxy_variable(std::string_view name);

// Why env.allow can't pass the variable; empty where it can. `has_gateway`: the network is not open.
std::string_view variable_obstacle(std::string_view name, bool has_gateway);
// The same for a variable that a user adds to a running session (`exec --env`): also what the policy keeps
// out.
std::string added_variable_obstacle(const policy::Policy& policy, std::string_view name,
                                    std::string_view value, bool has_gateway);

}  // namespace plan
