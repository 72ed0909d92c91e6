// SPDX-License-Identifier: MIT
// The ready filter programs, made at build time: a launch copies bytes and compiles nothing.
#pragma once

#include <linux/filter.h>

#include <span>

#include "seccomp/table.h"

namespace seccomp {

// For the architecture of this program.
std::span<const sock_filter> filter_for(const Switches& switches);

}  // namespace seccomp
