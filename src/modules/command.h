// SPDX-License-Identifier: MIT
// Which program is the site's module command. It runs with the caller's rights outside the jail, so it counts
// only where nobody but root could have put it there, or where the administrator's own file names it.
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
    // Software trees often belong to an account of their own: the administrator may vouch for it.
    bool is_administrators = false;
};

// The pinned one, or the first that exists of those that the caller's variables name and those in the usual
// places. One that exists and can't be trusted is an error, never a fall to another.
base::Result<base::Path> find_command(const host::Tree& tree, const std::vector<std::string>& environment,
                                      const std::optional<Pinned>& pinned);

}  // namespace modules
