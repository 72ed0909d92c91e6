// SPDX-License-Identifier: MIT
// Finds the site's module command. It runs with the caller's rights outside the jail, so it is used only if
// no user but root could have put it there, or if the administrator's own file names it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
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

// The environment of the module command: the caller's, without variables that would inject code into it.

// A part of a variable that the module command does not get, and the next part of the same variable.
struct Withheld {
    std::string variable;
    std::string part;
    std::string before;  // empty: it was the last
};

struct CommandEnvironment {
    std::vector<std::string> variables;  // "NAME=value"
    std::vector<Withheld> withheld;
};

// `writable`: physical directories in which the jail may write.
CommandEnvironment make_command_environment(const host::Tree& tree,
                                            const std::vector<std::string>& environment,
                                            const std::vector<base::Path>& writable);

// The module command's value of a variable, with the withheld parts inserted again.
std::string with_withheld(std::string_view variable, std::string_view value,
                          const std::vector<Withheld>& withheld);

}  // namespace modules
