// SPDX-License-Identifier: MIT
// Writes TOML for texts that the program generates. layer.cc reads TOML.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/settings.h"

namespace config {

// In double quotes. Escapes everything that a basic string can't contain or that base::printable would
// escape. The text must be UTF-8.
std::string toml_string(std::string_view text);

// The right side of a setting's line from canonical text: true, 42, "a text".
std::string toml_scalar(const Setting& setting, std::string_view text);

// ["a", "b"], or one entry a line if that would be too long; for assignments { NAME = "value" }.
std::string toml_list(const Setting& setting, const std::vector<std::string>& entries);

// "network" of "network.mode"; empty for a key at the top. The second returns "mode".
std::string_view section_of(const Setting& setting);
std::string_view name_in_section(const Setting& setting);

}  // namespace config
