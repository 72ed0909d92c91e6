// SPDX-License-Identifier: MIT
// The names that the bash predecessor gave its settings, and what is said about the commands that its files
// may hold.
#pragma once

#include <string_view>

namespace config {

// "network.mode" for NETWORK_FILTER_MODE; empty where no setting belongs to the variable. The key may be one
// that this version lacks.
std::string_view key_of_bash_variable(std::string_view variable);

// Why a command with this first word is left out; empty for those that mean nothing here.
std::string_view reason_for_bash_command(std::string_view word);

}  // namespace config
