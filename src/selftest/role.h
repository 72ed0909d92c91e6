// SPDX-License-Identifier: MIT
// The roles of the self-test that this program has in child processes: the probes, outside and inside, and
// the neighbour.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace selftest {

// The first argument that selects these roles; the second one names the role.
inline constexpr std::string_view kRole = "selftest-part";

int run_part(int argc, char** argv);

// Executes this program in a role, with this environment; exits if that fails.
[[noreturn]] void execute_part(const std::vector<std::string>& words,
                               const std::vector<std::string>& environment);

}  // namespace selftest
