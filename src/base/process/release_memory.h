// SPDX-License-Identifier: MIT
// Returns unused memory to the kernel before a long wait (malloc_trim and MADV_DONTNEED).
#pragma once

#include <poll.h>

#include <chrono>

namespace base {

// A process does this after so long without work, so that a short command pays nothing.
inline constexpr std::chrono::milliseconds kShortBreak{1000};

// Returns freed memory, and code pages, which the kernel reads again from the page cache on demand. Takes
// about fifty microseconds.
void rest();

// poll(2) that calls rest() once after kShortBreak without an event and then sets `has_rested`. `timeout` as
// in poll(2).
int poll_and_rest(struct pollfd* watched, nfds_t count, int timeout, bool& has_rested);

}  // namespace base
