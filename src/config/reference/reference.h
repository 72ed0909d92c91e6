// SPDX-License-Identifier: MIT
// Texts that are generated from the table of settings, so that they always agree with the program.
#pragma once

#include <string>

namespace config {

std::string starting_file();    // `config init`: every setting as a comment with help and default
std::string reference_page();   // docs/configuration.md
std::string settings_manual();  // the same for agent-sandbox.toml(5), as scdoc

}  // namespace config
