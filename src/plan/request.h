// SPDX-License-Identifier: MIT
// What the caller asks for, beside the settings: a command, a project, an environment.
#pragma once

#include <string>
#include <vector>

#include "base/path.h"

namespace plan {

struct Request {
    base::Path project;          // as given, absolute; the plan resolves it
    std::string project_origin;  // "--project" or "the current directory"
    base::Path working_directory;
    std::vector<std::string> command;      // words, untouched
    std::vector<std::string> environment;  // "NAME=value", the caller's
    std::string session;                   // id, set in the jail's environment
    base::Path config_directory;           // the sandbox's own, of this caller
    base::Path state_directory;
};

}  // namespace plan
