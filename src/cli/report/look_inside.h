// SPDX-License-Identifier: MIT
// Inside a jail, `why path` compares the rules with the current file system: a name may appear after the
// start and be covered a moment later, or not at all.
#pragma once

#include "plan/print/explain.h"

namespace cli {

// Changes a verdict that is wrong at this moment. `closed_by_rule`: a rule for the path hides or masks it.
void correct_by_looking(plan::Explanation& explanation, const base::Path& path, bool to_write,
                        bool closed_by_rule);

}  // namespace cli
