// SPDX-License-Identifier: MIT
// What the inner stage must find before anything runs. firejail works by path, passes over what it can't do,
// and where it takes itself to be inside another sandbox it runs the program with no jail at all.
#pragma once

#include <vector>

#include "backends/firejail/view.h"
#include "base/result.h"
#include "inner/orders.h"
#include "plan/plan.h"

namespace backends::firejail {

// An error when something that is to be shown is not there or has a symbolic link in its path.
base::Result<std::vector<inner::Check>> make_checks(const plan::Plan& plan, const View& view);

}  // namespace backends::firejail
