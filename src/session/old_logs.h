// SPDX-License-Identifier: MIT
// Logs of sessions do not pile up for ever, nor does what was half written by one that was killed.
#pragma once

#include <ctime>
#include <string>

namespace session {

inline constexpr std::time_t kLongestKept = std::time_t{30} * 24 * 3600;  // seconds

// Removes the logs in this directory that nobody has written to for that long. Nothing else is touched.
void remove_old_logs(const std::string& directory, std::time_t longest, std::time_t now);
// The same for files that somebody has begun to write, and never finished.
void remove_left_drafts(const std::string& directory, std::time_t now);

}  // namespace session
