// SPDX-License-Identifier: MIT
// A view as arguments of firejail, with a profile for most of it, because firejail accepts at most 127
// arguments. Pure.
#pragma once

#include <string>
#include <vector>

#include "backends/firejail/view.h"
#include "base/result.h"
#include "plan/plan.h"

namespace backends::firejail {

struct Rendered {
    std::vector<std::string> options;
    std::string profile;
    // For paths that a line of a profile can't contain; they come after the profile.
    std::vector<std::string> late_options;
};

// Refuses a path that firejail accepts in no form, and too many late options.
base::Result<Rendered> render(const plan::Plan& plan, const View& view);

}  // namespace backends::firejail
