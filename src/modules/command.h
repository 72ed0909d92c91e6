// SPDX-License-Identifier: MIT
// Finds the site's module command. It runs with the caller's rights outside the jail, so it is used only if
// no user but root could have put it there, or if the administrator's own file names it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/path.h"
#include "base/result.h"
#include "host/tree.h"

namespace modules {

struct Pinned {
    base::Path path;
    // A separate account often owns software trees: the administrator may vouch for it.
    bool is_administrators = false;
};

// The pinned program, or the first that exists of those that the caller's variables name and those in the
// usual directories. If that one can't be trusted it is an error: no other is tried.
base::Result<base::Path> find_command(const host::Tree& tree, const std::vector<std::string>& environment,
                                      const std::optional<Pinned>& pinned);

}  // namespace modules
