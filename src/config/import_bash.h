// SPDX-License-Identifier: MIT
// Reads a sandbox.conf of the bash predecessor without running it: assignments, array literals, +=, comments,
// quotes, $HOME and ~, defaults, and variables that the file itself sets. What would need a shell to decide
// (command substitution, conditionals, functions) is listed with its line.
#pragma once

#include <string_view>

#include "config/import.h"

namespace config {

Imported import_bash(std::string_view script, const ImportOptions& options = {});

}  // namespace config
