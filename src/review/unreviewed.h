// SPDX-License-Identifier: MIT
// Runs that ended without a review (short ones without a terminal, and those with --quiet), until the next
// review of the same project names what they left. One file beside the records of all projects holds the
// times of each run; no jail can reach it.
#pragma once

#include <time.h>

#include <string>
#include <vector>

namespace review {

struct Run {
    timespec started;
    timespec ended;
};

// `record` is the project's file for Known.
void add_unreviewed(const std::string& record, const timespec& started);

// Removes what it returns.
std::vector<Run> take_unreviewed(const std::string& record);

}  // namespace review
