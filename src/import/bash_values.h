// SPDX-License-Identifier: MIT
// The script that bash runs to evaluate a sandbox.conf, and the values that it prints.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace config {

// The names that the bash predecessor gave its settings.

// "network.mode" for NETWORK_FILTER_MODE; empty if the variable has no setting here.
std::string_view key_of_bash_variable(std::string_view variable);

// Whether the predecessor had the variable, even if it has no setting here.
bool is_name_of_predecessor(std::string_view variable);

std::vector<std::string_view> names_of_predecessor();

// Why a variable without a setting is left out, and what to write instead.
std::string reason_for_bash_variable(std::string_view variable);

// The script for 'bash -c'. Its arguments: the file, a home directory and a user's name (both empty: those of
// the caller), then the patterns that the file compares _PROJECT_DIR with, as shell words.
std::string_view bash_script();

struct BashVariable {
    bool is_list = false;
    bool is_added_to = false;  // the file keeps the earlier entries of the list
    std::vector<std::string> values;

    bool operator==(const BashVariable&) const = default;
};
using BashVariables = std::map<std::string, BashVariable>;

struct BashRun {
    std::string pattern;  // of _PROJECT_DIR, expanded; empty: a directory that the file does not name
    bool is_whole = false;
    std::vector<std::string> failed;  // "12:command": commands with an exit status other than 0
    // "12:NAME=value": the executed assignments, each with the last line of its command.
    std::vector<std::string> assigned;
    BashVariables variables;  // set by the file
};

struct BashEvaluation {
    std::vector<BashRun> runs;
    std::string errors;  // standard error of all runs
};

// Returns an error if bash can't read the file, or if the text is not the script's output.
base::Result<BashEvaluation> parse_bash_evaluation(std::string_view printed);

}  // namespace config
