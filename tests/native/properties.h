// SPDX-License-Identifier: MIT
// Claims about the steps that native makes from a plan, for any mounts.
#pragma once

#include <string_view>

#include "plan/plan.h"

namespace backends::native {

// The claim that is broken, or null.
const char* broken_for_plan(const plan::Plan& plan);

// The same for a plan whose mounts are written in these bytes, one a line: a letter for the kind, the target,
// a tab, the source.
const char* broken_for_mounts(std::string_view bytes);

}  // namespace backends::native
