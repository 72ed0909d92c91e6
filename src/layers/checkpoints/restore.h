// SPDX-License-Identifier: MIT
// Makes the files of a running session as they were at a checkpoint, through the mounted overlay: the kernel
// keeps what it knows about a mounted overlay in memory, so a change of its upper directory from outside
// shows names that do not exist. No process of the jail may run meanwhile.
#pragma once

#include <cstddef>

#include "base/result.h"

namespace layers {

struct Restoring {
    int mount = -1;       // the project in the jail: the root of the overlay, or of the clone
    int upper = -1;       // its upper directory; only read; -1: a clone
    int checkpoint = -1;  // an earlier upper directory, or clone
    int project = -1;     // the lower directory; -1: a clone
};

// The number of names that were changed. Other mounts below the project, such as masks, stay as they are.
base::Result<size_t> restore_through(const Restoring& restoring);

}  // namespace layers
