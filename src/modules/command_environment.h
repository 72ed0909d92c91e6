// SPDX-License-Identifier: MIT
// The environment of the module command: the caller's, without variables that would inject code into it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/path.h"
#include "host/tree.h"

namespace modules {

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
