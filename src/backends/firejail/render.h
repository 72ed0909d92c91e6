// SPDX-License-Identifier: MIT
// A view as arguments of firejail, and as the profile that most of it travels in: firejail takes no more than
// 127 arguments. Pure.
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
    // Of paths that a line of a profile can't hold; they stand behind the profile.
    std::vector<std::string> late_options;
};

// Refuses a path that firejail can't be told in any way, and more of the odd ones than it takes.
base::Result<Rendered> render(const plan::Plan& plan, const View& view);

}  // namespace backends::firejail
