// SPDX-License-Identifier: MIT
// Functions that the doorman needs from its process.
#pragma once

#include <functional>
#include <string>

namespace doorman {

struct Hooks {
    // Called in a fork of that process: enters the command's wall. Zero or an errno.
    std::function<int()> enter_wall;
    // Called with a refused abstract name, printable: "@/tmp/.X11-unix/X0".
    std::function<void(const std::string&)> on_refused_name;
};

}  // namespace doorman
