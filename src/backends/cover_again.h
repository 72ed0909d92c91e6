// SPDX-License-Identifier: MIT
// Laying covers again in a jail that runs.
#pragma once

#include <vector>

#include "backends/covers.h"

namespace backends {

struct Uncovered {
    base::Path path;  // outside
    bool is_covered_again = false;
};

// Looks at each in the mounts of a jail and covers what is bare. Enters the jail's namespaces for it, which
// can't be left again: for a process that ends afterwards. Covered ones, and names that are not there, are
// not told of; without the right to enter, nothing is.
std::vector<Uncovered> cover_again(int mount_namespace, const std::vector<Cover>& covers);

}  // namespace backends
