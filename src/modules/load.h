// SPDX-License-Identifier: MIT
// Loads modules with the site's own module command, before the jail is planned. The result is variables for
// the jailed command. No shell runs, no start-up file is read, and the environment of this process stays
// unchanged: a module can't change a setting or our own helpers.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "modules/command.h"

namespace modules {

struct LoadRequest {
    std::vector<std::string> names;
    std::optional<Pinned> command;
    std::vector<base::Path> writable;  // physical directories in which the jail may write
};

struct Loaded {
    std::vector<std::string> environment;    // "NAME=value", for the command
    std::vector<std::string> set;            // names of the variables that the modules set, sorted
    std::vector<std::string> search_places;  // directories that they added to search paths
    std::string said;                        // messages of the module command: one line, made printable
    std::vector<std::string> withheld;       // directories of module files that were not read
};

base::Result<Loaded> load(const host::Tree& tree, const std::vector<std::string>& environment,
                          const LoadRequest& request);

}  // namespace modules
