// SPDX-License-Identifier: MIT
// What a module command answers when it is asked in its Python dialect: assignments to variables and nothing
// that would have to be run. Lmod and Environment Modules both speak it, in every release that is in use.
//
// The text is read, never executed, and what is no assignment is an error. A module could write text that
// reads as assignments it did not make; that gives it nothing, for it may set any variable anyway.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace modules {

struct Change {
    std::string name;
    std::optional<std::string> value;  // none: the variable is taken away
};

struct Answer {
    std::vector<Change> changes;  // in order; a later one wins
    bool has_failed = false;      // the command says so itself; its exit status may be 0
};

base::Result<Answer> parse_answer(std::string_view text);

}  // namespace modules
