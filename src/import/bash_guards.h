// SPDX-License-Identifier: MIT
// Finds the patterns that a sandbox.conf compares _PROJECT_DIR with, as far as its text shows: the right
// sides of [[ … == PATTERN ]] and the patterns of a case. Bash evaluates the file for each of them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace config {

struct BashGuards {
    std::vector<std::string> patterns;  // shell words as the file writes them
    bool is_understood = true;          // false: the file uses _PROJECT_DIR in another way too
};

BashGuards find_bash_guards(std::string_view text);

// The lines that assign to the variable.
std::vector<int> lines_of_assignments(std::string_view text, std::string_view name);

// Whether the text expands the variable: $NAME, ${NAME…}.
bool expands_variable(std::string_view text, std::string_view name);

}  // namespace config
