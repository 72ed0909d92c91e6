// SPDX-License-Identifier: MIT
// Finds programs on the host, and the flags that would show one in the jail.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/path.h"
#include "host/tree.h"
#include "plan/plan.h"

namespace cli {

// How to resolve a word of a command line: as a path, or as a name in the directories of `search_path`.
struct Lookup {
    std::string_view search_path;
    const base::Path& working_directory;
};
std::optional<base::Path> find_program(const host::Tree& tree, const Lookup& lookup, const std::string& word);

bool is_visible(const plan::Plan& plan, const host::Tree& tree, const base::Path& program);

// " --ro DIRECTORY" for each directory that the program needs and the jail does not show; empty if no flag
// would help.
std::string flags_that_show(const plan::Plan& plan, const host::Tree& tree, const base::Path& program);

}  // namespace cli
