// SPDX-License-Identifier: MIT
// The command line and the environment of this process as other processes see them: /proc/PID/cmdline and
// /proc/PID/environ read this memory.
#pragma once

#include <string_view>

namespace base {

// Call it first in main.
void remember_arguments(int argc, char** argv);

// For a fork of this process that continues as a helper: its command line becomes `title` (words separated by
// NUL), truncated to the available memory. The caller's arguments are erased.
void replace_arguments(std::string_view title);

// The caller's variables contain secrets that some processes do not need.
void forget_environment();

}  // namespace base
