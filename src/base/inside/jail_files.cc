// SPDX-License-Identifier: MIT
#include "base/inside/jail_files.h"

#include <cstdlib>

namespace base {

std::string own_directory() {
    const char* named = std::getenv(kPlaceVariable);
    return named != nullptr && named[0] == '/' ? named : std::string(kOwnDirectory);
}

std::string own_path(std::string_view name) {
    return own_directory() + "/" + std::string(name);
}

}  // namespace base
