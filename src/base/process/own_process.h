// SPDX-License-Identifier: MIT
// This process itself: its command line as other processes see it, and its unused memory.
#pragma once

#include <chrono>
#include <string_view>

namespace base {

// The command line and the environment of this process as other processes see them: /proc/PID/cmdline and
// /proc/PID/environ read this memory.

// Call it first in main.
void remember_arguments(int argc, char** argv);

// For a fork of this process that continues as a helper: its command line becomes `title` (words separated by
// NUL), truncated to the available memory. The caller's arguments are erased.
void replace_arguments(std::string_view title);

// The caller's variables contain secrets that some processes do not need.
void forget_environment();

// Returns unused memory to the kernel before a long wait (malloc_trim and MADV_DONTNEED).

// A process does this after so long without work, so that a short command pays nothing.
inline constexpr std::chrono::milliseconds kShortBreak{1000};

// Returns freed memory, and code pages, which the kernel reads again from the page cache on demand. Takes
// about fifty microseconds.
void rest();

}  // namespace base
