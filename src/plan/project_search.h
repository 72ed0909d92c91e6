// SPDX-License-Identifier: MIT
// One bounded look through the project at launch: files to mask, and nested repositories whose hooks must be
// protected. Breadth first, so that what lies near the top is found whatever lies below.
#pragma once

#include <vector>

#include "base/path.h"
#include "host/tree.h"
#include "policy/policy.h"

namespace plan {

struct Found {
    std::vector<std::pair<base::Path, config::Item>> masked;  // with the entry of project.mask that matched
    std::vector<base::Path>
        nested_repositories;  // working trees below the project with a ".git" of their own
    bool is_complete = true;  // false: a limit was met
};

struct SearchLimits {
    size_t entries = 10'000;
    size_t depth = 6;
};

Found search_project(const host::Tree& tree, const base::Path& project, const policy::Policy& policy,
                     const SearchLimits& limits = {});

}  // namespace plan
