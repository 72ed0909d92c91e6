// SPDX-License-Identifier: MIT
// Loads modules by the site's own module command, before the jail is planned. What comes of it are variables
// for the jailed command. No shell runs, no start-up file is read, and the environment of this process stays
// as it is: a module changes neither a setting nor what our own helpers do.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "modules/command.h"

namespace modules {

struct Request {
    std::vector<std::string> names;
    std::optional<Pinned> command;
    std::vector<base::Path> writable;  // physical places in which the jail may write
};

struct Loaded {
    std::vector<std::string> environment;    // "NAME=value", for the command
    std::vector<std::string> set;            // names of the variables that the modules set, sorted
    std::vector<std::string> search_places;  // directories that they put on search paths
    std::string said;                        // by the module command: one line, made printable
    std::vector<std::string> withheld;       // directories of module files that were not looked into
};

base::Result<Loaded> load(const host::Tree& tree, const std::vector<std::string>& environment,
                          const Request& request);

}  // namespace modules
