// SPDX-License-Identifier: MIT
// For a process that has done its work and only waits from here on.
#pragma once

#include <poll.h>

#include <chrono>

namespace base {

// After this long without anything to do a process rests: a short command pays nothing for it.
inline constexpr std::chrono::milliseconds kShortBreak{1000};

// Gives back the memory that waiting does not need: what was freed, and the code that was read once and is
// read again, from the page cache, when it is needed. Some fifty microseconds.
void rest();

// poll(2) that rests once when nothing happens for a while; `has_rested` remembers it. `timeout` as there.
int poll_and_rest(struct pollfd* watched, nfds_t count, int timeout, bool& has_rested);

}  // namespace base
