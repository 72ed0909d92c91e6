// SPDX-License-Identifier: MIT
// Reads a sandbox.conf of the bash predecessor without running it: assignments, array literals, +=, comments,
// quotes, $HOME and ~. What can't be carried over (command substitution, conditionals, functions) is listed
// with its line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace config {

struct LeftOut {
    int line;
    std::string text;
    std::string reason;
};

struct Imported {
    std::string toml;  // passes parse_layer
    std::vector<LeftOut> left_out;
};

Imported import_bash(std::string_view script);

}  // namespace config
