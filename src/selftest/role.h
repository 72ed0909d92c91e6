// SPDX-License-Identifier: MIT
// The parts of the self-test that this program plays in processes of its own: the probes, outside and inside,
// and the neighbour.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace selftest {

// The first word that makes the program play one of them; the second says which.
inline constexpr std::string_view kRole = "selftest-part";

int run_part(int argc, char** argv);

// Executes this program in a part, with this environment; ends the process where that fails.
[[noreturn]] void execute_part(const std::vector<std::string>& words,
                               const std::vector<std::string>& environment);

}  // namespace selftest
