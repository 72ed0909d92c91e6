// SPDX-License-Identifier: MIT
// Processes that bubblewrap leaves behind if a session is killed while its namespaces are made.
#pragma once

#include <string_view>

namespace session {

// Kills those of this user.
void end_left_builders();

// For tests: whether a process with this command line (words end with NUL) and this /proc/PID/status is one.
// `own_numbers` is how many pids a process of our own pid namespace has.
bool is_left_builder(std::string_view command_line, std::string_view status, size_t own_numbers,
                     std::string_view name_of_parent);

}  // namespace session
