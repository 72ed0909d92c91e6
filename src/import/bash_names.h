// SPDX-License-Identifier: MIT
// The names that the bash predecessor gave its settings.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace config {

// "network.mode" for NETWORK_FILTER_MODE; empty if the variable has no setting here.
std::string_view key_of_bash_variable(std::string_view variable);

// Whether the predecessor had the variable, even if it has no setting here.
bool is_name_of_predecessor(std::string_view variable);

std::vector<std::string_view> names_of_predecessor();

// Why a variable without a setting is left out, and what to write instead.
std::string reason_for_bash_variable(std::string_view variable);

}  // namespace config
