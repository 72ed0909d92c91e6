// SPDX-License-Identifier: MIT
// The smallest change that would open a path: a flag, a line of configuration, or nothing.
#pragma once

#include <optional>
#include <string>

#include "base/path.h"
#include "host/tree.h"
#include "plan/plan.h"

namespace plan {

struct Question {
    const Plan& plan;
    const base::Path& asked;     // as the user wrote it
    const base::Path& physical;  // where it leads
    std::optional<host::Node> node;
    bool to_write;
};

// For a path that no rule of its own closes; empty where the plan would refuse such a flag.
std::string flag_for(const Question& question);

// For a path whose writes succeed and are discarded with the jail; empty where they can't be kept.
std::string flag_to_keep(const Question& question);

// For a path that `rule` closes; empty where nothing may open it.
std::string change_for(const Question& question, const PathRule& rule);

}  // namespace plan
