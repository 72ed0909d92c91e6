// SPDX-License-Identifier: MIT
// The environment that the module command gets: the caller's, without what would put code into it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/path.h"
#include "host/tree.h"

namespace modules {

// A part of a variable that the module command does not get, and the part of the same variable behind it.
struct Withheld {
    std::string variable;
    std::string part;
    std::string before;  // empty: it was the last
};

struct Surroundings {
    std::vector<std::string> environment;
    std::vector<Withheld> withheld;
};

// `writable`: physical places in which the jail may write.
Surroundings make_surroundings(const host::Tree& tree, const std::vector<std::string>& environment,
                               const std::vector<base::Path>& writable);

// What the module command made of a variable, with the parts that it was not shown at their places.
std::string with_withheld(std::string_view variable, std::string_view value,
                          const std::vector<Withheld>& withheld);

}  // namespace modules
