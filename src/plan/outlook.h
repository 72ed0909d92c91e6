// SPDX-License-Identifier: MIT
// What a jail would reach on a machine, for every backend and every control, before anything is run: what
// `doctor` shows. Pure; from the same rows that the plan is made with (backend.h).
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
    std::vector<policy::NetworkMode> modes;  // none with an obstacle
    std::vector<Reached> controls;  // in the order of the plan's own; also where there is an obstacle
};

// The best backend first.
std::vector<Outlook> outlooks(const host::Facts& facts);

}  // namespace plan
