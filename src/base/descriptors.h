// SPDX-License-Identifier: MIT
// The whole table of descriptors of this process: nothing that the caller left open may reach a process that
// does not need it.
#pragma once

#include <vector>

namespace base {

// Closes every descriptor but these.
void close_others(std::vector<int> kept);

// Every descriptor from 3 upwards is closed by the next exec, but these.
void inherit_only(const std::vector<int>& kept);

// Opens /dev/null in place of those of 0, 1 and 2 that are closed, so that no file of ours becomes somebody's
// standard output. False where that can't be done.
bool fill_standard_descriptors();

}  // namespace base
