// SPDX-License-Identifier: MIT
// A plan for people and for programs. The JSON is stable: members keep their order and meaning, values of
// variables are never in it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/encoding/json.h"
#include "plan/plan.h"

namespace plan {

// An entry of the network settings that is in force, as text.
struct NetworkEntry {
    std::string_view setting;
    std::string text;
    config::Origin origin;
};
std::vector<NetworkEntry> network_entries(const Network& network);

base::Json to_json(const Plan& plan);
std::string to_text(const Plan& plan, bool is_coloured = false);

}  // namespace plan
