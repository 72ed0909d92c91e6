// SPDX-License-Identifier: MIT
// Executes the command by its name, and returns the exact reason if that fails.
#pragma once

#include <string_view>
#include <vector>

#include "inner/launch_spec.h"

namespace inner {

struct ExecuteFailure {
    int number = 0;
    std::string_view step;  // kStepExecute or kStepInterpreter
};

// As execvp(3) does, with the PATH of the command's own environment; returns only on failure.
ExecuteFailure execute(const LaunchSpec& spec);

}  // namespace inner
