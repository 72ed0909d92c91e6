// SPDX-License-Identifier: MIT
// What the inner stage must check before the command runs.
#pragma once

#include <vector>

#include "base/result.h"
#include "inner/launch_spec.h"
#include "plan/plan.h"

namespace backends::bubblewrap {

// A check for each mount that is pinned or in a writable part of the host, with the current identity of its
// source. An error if a source is missing or has a symbolic link in its path.
base::Result<std::vector<inner::Check>> make_checks(const plan::Plan& plan);

}  // namespace backends::bubblewrap
