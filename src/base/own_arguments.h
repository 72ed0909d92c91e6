// SPDX-License-Identifier: MIT
// The command line and the environment of this process as others see them: /proc/PID/cmdline and
// /proc/PID/environ are this memory.
#pragma once

#include <string_view>

namespace base {

// From main, before anything else.
void remember_arguments(int argc, char** argv);

// For a copy of this process that lives on as something else: from here on its command line is `title` (words
// with NUL between them), cut off where there is no room, and what the caller asked for is gone.
void replace_arguments(std::string_view title);

// The caller's variables hold secrets that some processes have no use for.
void forget_environment();

}  // namespace base
