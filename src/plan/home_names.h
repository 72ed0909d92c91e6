// SPDX-License-Identifier: MIT
// Which names there are in the home directory, from one listing. The built-in lists name some two hundred
// paths, of which a home has a handful: the rest must cost next to nothing at a launch.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/path.h"
#include "host/tree.h"

namespace plan {

class HomeNames {
  public:
    HomeNames(const host::Tree& tree, base::Path home) : tree_(tree), home_(std::move(home)) {}

    // False only where the path can't exist; looks at the first two components.
    bool may_exist(std::string_view relative) const;

  private:
    const std::vector<host::Entry>& names_in(const base::Path& directory) const;

    const host::Tree& tree_;
    base::Path home_;
    mutable std::map<base::Path, std::vector<host::Entry>> listings_;
};

}  // namespace plan
