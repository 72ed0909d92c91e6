// SPDX-License-Identifier: MIT
// Removes old logs of sessions, and files that a killed session left half written.
#pragma once

#include <ctime>
#include <string>

namespace session {

inline constexpr std::time_t kLongestKept = std::time_t{30} * 24 * 3600;  // seconds

// Removes the logs in this directory that were last written longer ago than that. Nothing else is touched.
void remove_old_logs(const std::string& directory, std::time_t longest, std::time_t now);
// The same for files whose writing began and never finished.
void remove_left_drafts(const std::string& directory, std::time_t now);

}  // namespace session
