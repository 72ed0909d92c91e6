// SPDX-License-Identifier: MIT
// Results that one launch found on the disk, so that the next one need not look again: small text files in
// the state directory. Threat: a process that could write there could make a launch overlook something. No
// jail can, because no jail gets the state directory (tests/jail/own_files.bats). A file of another user,
// with other groups or without its last line is ignored. Only the caller is left, and the jail is the
// caller's own.
#pragma once

#include <ctime>
#include <optional>
#include <string>
#include <string_view>

namespace host {

// No finding is used for longer, in seconds.
inline constexpr time_t kLongestBelief = 3600;

struct Findings {
    std::string body;  // whole lines
};

// Nothing where the file is missing or fails the checks.
std::optional<Findings> kept_findings(const std::string& file, std::string_view title);

// `body` must be whole lines. A write failure is ignored: the next launch looks again.
void keep_findings(const std::string& file, std::string_view title, std::string_view body);

// Whether a finding made `then` is still valid `now`; false if the clock was set back.
bool is_within(time_t longest, time_t then, time_t now);

// A change time of the kernel as text, without blanks.
std::string stamp_text(const struct timespec& time);

}  // namespace host
