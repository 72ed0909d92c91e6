// SPDX-License-Identifier: MIT
// What a plan mounts on files of the host: covers over names that the jail must not read or change. Pure.
#pragma once

#include <vector>

#include "base/path.h"
#include "plan/plan.h"

namespace backends {

struct Cover {
    enum class Kind : unsigned char {
        readonly,    // the file itself, read-only
        writable,    // the file itself, which is only to keep its name
        nothing,     // something empty
        our_program  // a stub
    };
    base::Path inside;   // where it lies in the jail
    base::Path outside;  // the host's name for the same
    Kind kind = Kind::nothing;
};

// Those that can be laid again from inside the jail's own mounts, each after what it lies in.
std::vector<Cover> covers_of(const plan::Plan& plan);

}  // namespace backends
