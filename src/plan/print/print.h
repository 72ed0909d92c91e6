// SPDX-License-Identifier: MIT
// A plan for people and for programs, and what every backend would reach on a machine.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/encoding/json.h"
#include "plan/backend.h"
#include "plan/plan.h"

namespace plan {

// A plan for people and for programs. The JSON is stable: members keep their order and meaning, values of
// variables are never in it.

// An entry of the network settings that is in force, as text.
struct NetworkEntry {
    std::string_view setting;
    std::string text;
    config::Origin origin;
};
std::vector<NetworkEntry> network_entries(const Network& network);

base::Json to_json(const Plan& plan);
std::string to_text(const Plan& plan, bool is_coloured = false);

// What a jail would reach on a machine, for every backend and every control, before anything runs: `doctor`
// shows it. Pure; made from the same rows as the plan (backend.h).

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
