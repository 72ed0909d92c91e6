// SPDX-License-Identifier: MIT
// Processes that bubblewrap leaves where a session is killed at the moment in which its namespaces are made.
#pragma once

#include <string_view>

namespace session {

// Ends those of this user.
void end_left_builders();

// For tests: whether a process with this command line (words end with NUL) and this /proc/PID/status is one,
// seen from a namespace in which a process has so many numbers.
bool is_left_builder(std::string_view command_line, std::string_view status, size_t own_numbers,
                     std::string_view name_of_parent);

}  // namespace session
