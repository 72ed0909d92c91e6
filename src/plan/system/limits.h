// SPDX-License-Identifier: MIT
// The limits of a plan by name, and their text for a person.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "plan/plan.h"

namespace plan {

struct NamedLimit {
    std::string_view key;  // "limits.memory"
    policy::Limit Limits::*field;
    std::string_view meaning;  // what happens, for a person
};

std::span<const NamedLimit> named_limits();
const NamedLimit& limit_named(std::string_view key);

// "512M", "10m", "200": the largest unit without a fraction.
std::string limit_text(const NamedLimit& named, const Limits& limits);
// "limits.wall_time = 10s was reached (--limit)".
std::string reached_text(const NamedLimit& named, const Limits& limits);

}  // namespace plan
