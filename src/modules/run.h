// SPDX-License-Identifier: MIT
// Runs the module command to its end, with limits on its time and its output.
#pragma once

#include <string>
#include <vector>

#include "base/path.h"
#include "base/result.h"

namespace modules {

struct Output {
    std::string answer;  // standard output
    std::string words;   // standard error
    int exit_code = 0;   // 128+n for a signal
};

// In the root directory and without input, so that the caller's working directory has no influence.
base::Result<Output> run_command(const base::Path& program, const std::vector<std::string>& arguments,
                                 const std::vector<std::string>& environment);

}  // namespace modules
