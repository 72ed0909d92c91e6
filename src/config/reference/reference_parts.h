// SPDX-License-Identifier: MIT
// The text that the reference page and the manual share.
#pragma once

#include <string_view>
#include <vector>

#include "config/settings.h"

namespace config {

// The effect of an administrator's value on the other layers.
std::string_view meaning_for_administrator(Order order);
// Sections in the order of their first row.
std::vector<std::string_view> sections();

}  // namespace config
