// SPDX-License-Identifier: MIT
// A view as arguments of firejail, with a profile for most of it, because firejail accepts at most 127
// arguments. Pure.
#pragma once

#include <string>
#include <vector>

#include "backends/firejail/view.h"
#include "base/result.h"
#include "inner/launch_spec.h"
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

// What the inner stage must check before the command runs. firejail works by path and skips what it can't do.
// If it detects another sandbox around it, it runs the program with no jail at all.

// An error if a path that is to be shown is missing or has a symbolic link in it.
base::Result<std::vector<inner::Check>> make_checks(const plan::Plan& plan, const View& view);

}  // namespace backends::firejail
