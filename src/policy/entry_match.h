// SPDX-License-Identifier: MIT
// Whether one entry of a list covers another: the comparisons that make the administrator's block absolute.
#pragma once

#include <string_view>

namespace policy {

// "AWS_*", "*password*/i": case matters unless the pattern ends in /i.
bool matches_variable_pattern(std::string_view pattern, std::string_view name);

// Whether `outer` matches everything that the network rule `inner` matches: "*" covers all, "*.example.org"
// covers "a.example.org:443", "10.0.0.0/8" covers "10.1.2.3" and "10.1.0.0/16:22". "443" covers "443" and
// also "example.org:443", because it is a port of any host.
bool covers_rule(std::string_view outer, std::string_view inner);

}  // namespace policy
