// SPDX-License-Identifier: MIT
// What the reference page and the manual say in the same words.
#pragma once

#include <string_view>
#include <vector>

#include "config/settings.h"

namespace config {

// What an administrator's value of such a setting means to others.
std::string_view meaning_for_administrator(Order order);
// Sections in the order of their first row.
std::vector<std::string_view> sections();

}  // namespace config
