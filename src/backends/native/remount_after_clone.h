// SPDX-License-Identifier: MIT
// For kernels before 5.12, which can't change a tree of mounts at once: sets the rights of every mount of the
// new view, in one pass over the mount table.
#pragma once

#include "backends/native/failure.h"
#include "backends/native/script.h"

namespace backends::native {

// The process's root is the new root already, and `root` is its descriptor; `self` is /proc/self of the host.
Failure remount(const Script& script, int self, int root);

}  // namespace backends::native
