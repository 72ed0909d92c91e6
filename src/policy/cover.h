// SPDX-License-Identifier: MIT
// Whether one entry of a list takes in another: the comparisons behind "the administrator's block is
// absolute".
#pragma once

#include <string_view>

namespace policy {

// "AWS_*", "*password*/i": case matters unless the pattern ends in /i.
bool matches_variable_pattern(std::string_view pattern, std::string_view name);

// Whether everything that the network rule `inner` can mean is meant by `outer` too: "*" covers all,
// "*.example.org" covers "a.example.org:443", "10.0.0.0/8" covers "10.1.2.3" and "10.1.0.0/16:22", "443"
// covers "443" and, being about a port of any host, "example.org:443".
bool covers_rule(std::string_view outer, std::string_view inner);

}  // namespace policy
