// SPDX-License-Identifier: MIT
// Which names there are in the home directory, from one listing. The built-in lists name some two hundred
// paths, of which a home has a handful: the rest must cost next to nothing at a launch.
#pragma once

#include <string_view>

#include "base/path.h"
#include "host/tree.h"

namespace plan {

class HomeNames {
  public:
    HomeNames(const host::Tree& tree, base::Path home) : tree_(tree), home_(std::move(home)) {}

    // False only where the path can't exist; looks at the first two components.
    bool may_exist(std::string_view relative) const;

  private:
    const host::Tree& tree_;
    base::Path home_;
};

}  // namespace plan
