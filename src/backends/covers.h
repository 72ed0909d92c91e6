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
        writable,    // the file itself, only to keep its name
        nothing,     // something empty
        our_program  // a stub
    };
    base::Path inside;   // its path in the jail
    base::Path outside;  // the path of the same file on the host
    Kind kind = Kind::nothing;
};

// Covers that can be mounted again from inside the jail's mount namespace, each after its parent.
std::vector<Cover> covers_of(const plan::Plan& plan);

}  // namespace backends
