// SPDX-License-Identifier: MIT
// What the inner stage must find before anything runs.
#pragma once

#include <vector>

#include "base/result.h"
#include "inner/orders.h"
#include "plan/plan.h"

namespace backends::bubblewrap {

// A check for each mount that is pinned or lies in a writable part of the host, with the identity of its
// source as it is now. An error when a source is not there or has a symbolic link in its path.
base::Result<std::vector<inner::Check>> make_checks(const plan::Plan& plan);

}  // namespace backends::bubblewrap
