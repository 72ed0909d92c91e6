// SPDX-License-Identifier: MIT
// Texts that are generated from the table of settings, so that they always agree with the program.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/settings.h"

namespace config {

std::string starting_file();    // `config init`: every setting as a comment with help and default
std::string reference_page();   // docs/configuration.md
std::string settings_manual();  // the same for agent-sandbox.toml(5), as scdoc

// The text that the reference page and the manual share.

// The effect of an administrator's value on the other layers.
std::string_view meaning_for_administrator(Order order);
// Sections in the order of their first row.
std::vector<std::string_view> sections();

}  // namespace config
