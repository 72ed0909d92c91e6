// SPDX-License-Identifier: MIT
// What a jail would reach on a machine, for every backend and every control, before anything runs: `doctor`
// shows it. Pure; made from the same rows as the plan (backend.h).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "plan/backend.h"

namespace plan {

struct Reached {
    std::string_view control;
    policy::Level level = policy::Level::absent;
    std::string detail;
};

struct Outlook {
    const BackendTraits* backend = nullptr;
    std::optional<std::string> obstacle;     // nothing: it works here
    std::vector<policy::NetworkMode> modes;  // empty with an obstacle
    std::vector<Reached> controls;           // in the order of the plan's; filled in with an obstacle too
};

// The best backend first.
std::vector<Outlook> outlooks(const host::Facts& facts);

}  // namespace plan
