// SPDX-License-Identifier: MIT
// What the inner stage must check before the command runs. firejail works by path and skips what it can't do.
// If it detects another sandbox around it, it runs the program with no jail at all.
#pragma once

#include <vector>

#include "backends/firejail/view.h"
#include "base/result.h"
#include "inner/launch_spec.h"
#include "plan/plan.h"

namespace backends::firejail {

// An error if a path that is to be shown is missing or has a symbolic link in it.
base::Result<std::vector<inner::Check>> make_checks(const plan::Plan& plan, const View& view);

}  // namespace backends::firejail
