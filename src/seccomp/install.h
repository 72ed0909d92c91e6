// SPDX-License-Identifier: MIT
#pragma once

#include "seccomp/table.h"

namespace seccomp {

// Filters this process and all its future children, permanently; zero or an errno. no_new_privs must be set.
int install(const Switches& switches);

}  // namespace seccomp
