// SPDX-License-Identifier: MIT
// The descriptor table of this process: a process must not inherit a descriptor that the caller left open and
// that it does not need.
#pragma once

#include <vector>

namespace base {

// Closes every descriptor except these.
void close_others(std::vector<int> kept);

// Sets close-on-exec on every descriptor from 3 upwards except these.
void inherit_only(const std::vector<int>& kept);

// Opens /dev/null for each of 0, 1 and 2 that is closed. Otherwise a file that we open could become the
// standard output of another process. False on failure.
bool fill_standard_descriptors();

}  // namespace base
