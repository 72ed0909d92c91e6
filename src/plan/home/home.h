// SPDX-License-Identifier: MIT
// The home directory: its access mode, the names in it, and caches.
#pragma once

#include <string_view>
#include <vector>

#include "base/path.h"
#include "host/tree.h"

namespace plan {

// The names that exist in the home directory, from one listing. The built-in lists contain some two hundred
// paths, and a home has a few of them: the others must cost almost nothing at a launch.

class HomeNames {
  public:
    HomeNames(const host::Tree& tree, base::Path home) : tree_(tree), home_(std::move(home)) {}

    // False only where the path can't exist; checks the first two components.
    bool may_exist(std::string_view relative) const;

  private:
    const host::Tree& tree_;
    base::Path home_;
    mutable const std::vector<host::Entry>* names_ = nullptr;  // the tree's list, once it was needed
};

}  // namespace plan
