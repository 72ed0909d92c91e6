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

// The same for a mount table of these bytes: each line has the place and the options that a simple reader
// finds, and a line that is cut or has too few fields is an error.
const char* broken_for_mount_table(std::string_view bytes);

}  // namespace backends::native
