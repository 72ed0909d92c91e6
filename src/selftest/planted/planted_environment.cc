// SPDX-License-Identifier: MIT
// The environment of a caller with secrets in variables.
#include <cstdlib>

#include "base/format.h"
#include "selftest/attempts/variables.h"
#include "selftest/planted/planted.h"

namespace selftest {

std::vector<std::string> Planted::environment() const {
    std::vector<std::string> environment = {
        "PATH=/usr/local/bin:/usr/bin:/bin",
        "TERM=xterm",
        "LANG=C.UTF-8",
        "HOME=" + world_.home,
    };
    // If the account is in a directory service, these variables are the only source.
    for (const char* name : {"USER", "LOGNAME", "SHELL"}) {
        if (const char* value = std::getenv(name)) environment.push_back(base::format("{}={}", name, value));
    }
    for (const PlantedVariable& variable : planted_variables()) {
        environment.push_back(base::format("{}={}", variable.name, value_of(variable, world_)));
    }
    return environment;
}

}  // namespace selftest
