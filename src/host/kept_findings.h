// SPDX-License-Identifier: MIT
// What one launch found out on the disk and the next one need not look for again: small text files in the
// state directory. Threat: whoever could write there could make a launch overlook something. No jail can (the
// state directory is open to none: tests/jail/own_files.bats), and a file of another user, of another asker
// or without its end does not count. The caller alone is left, whose jail it is.
#pragma once

#include <ctime>
#include <optional>
#include <string>
#include <string_view>

namespace host {

// Nothing is believed for longer, in seconds.
inline constexpr time_t kLongestBelief = 3600;

struct Findings {
    std::string body;  // whole lines
};

// Nothing where there is no such file, or none that can be believed.
std::optional<Findings> kept_findings(const std::string& file, std::string_view title);

// `body` must be whole lines. That it can't be written is no error: the next launch looks again.
void keep_findings(const std::string& file, std::string_view title, std::string_view body);

// Whether something found then can be believed now; a clock that was set back is no proof of anything.
bool is_within(time_t longest, time_t then, time_t now);

// A change stamp of the kernel's as text, without blanks.
std::string stamp_text(const struct timespec& time);

}  // namespace host
