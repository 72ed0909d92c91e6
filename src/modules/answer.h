// SPDX-License-Identifier: MIT
// The output of a module command in its Python dialect: assignments to variables, without code that would
// have to be executed. All releases of Lmod and Environment Modules in use support it.
//
// The text is parsed, never executed, and anything but an assignment is an error. A module could print text
// that looks like assignments of the module command. It gains nothing by that, because it may set any
// variable anyway.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace modules {

struct Change {
    std::string name;
    std::optional<std::string> value;  // nothing: the variable is removed
};

struct Answer {
    std::vector<Change> changes;  // in order; a later one wins
    bool has_failed = false;      // the command reports failure itself; its exit status may be 0
};

base::Result<Answer> parse_answer(std::string_view text);

}  // namespace modules
