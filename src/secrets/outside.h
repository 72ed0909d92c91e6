// SPDX-License-Identifier: MIT
// Whether a source of a value is outside of everything that the jail can write.
//
// Threat: the agent replaces the program or the file that is the source, and its code runs outside the jail,
// or a value of its choice is sent to the host. So every file is compared with the writable places at each
// use, by device and inode too. Tests: tests/secrets/outside_test.cc.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/path.h"
#include "base/result.h"

namespace secrets {

// What the launching shell had, and what the jail can write.
struct Surroundings {
    std::vector<std::string> environment;  // "NAME=value"
    base::Path home;
    std::string store;                 // directory of the program's own store (store.h)
    std::vector<base::Path> writable;  // directories and files of the host
};

// An error if the jail can write this open file, or can replace it by a name on the way to it.
base::Status check_outside(const Surroundings& surroundings, int file, const std::string& path);
// The same for a name that is only passed on. The name may be missing.
base::Status check_outside(const Surroundings& surroundings, const std::string& path);

// The same for every path in an argument of a command: "/path", "if=/path", "cat /path | head -1".
base::Status check_argument(const Surroundings& surroundings, const std::string& argument);

// The program as the shell would find it: a path, or a name in PATH. Relative directories of PATH do not
// count.
// Threat: a session in another project leaves a program of this name in a directory of PATH. A name that is
// found in a git repository or a virtual environment is refused; its path from / is not.
base::Result<std::string> find_program(const Surroundings& surroundings, const std::string& name);

// The environment without the parts of search paths that the jail can write, and without variables that name
// such a place otherwise.
std::vector<std::string> environment_for(const Surroundings& surroundings);

// The value of a variable, or null.
const char* variable_in(const std::vector<std::string>& environment, std::string_view name);

}  // namespace secrets
