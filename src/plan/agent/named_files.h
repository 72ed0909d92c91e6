// SPDX-License-Identifier: MIT
// Which files of an agent's state its settings name, and which names belong to scripts: programs outside run
// these files, so the jail must not write them.
#pragma once

#include <set>
#include <span>
#include <string>
#include <string_view>

#include "host/known_names.h"

namespace plan {

// A name that interpreters run: .sh, .py, .js …
bool is_script_name(std::string_view name);

// A name of data that programs write and never run: .jsonl, .log, .db …
bool is_data_name(std::string_view name);

// Paths below a state directory that a text names, whatever stands before them: "~/.claude/x.sh",
// "$CLAUDE_CONFIG_DIR/x.sh", "./x.sh" and "x.sh" all name "x.sh", if `entries`, the content of the directory,
// has it. A path may be one that does not exist.
std::set<std::string> named_in_state(std::string_view text, std::span<const host::Entry> entries);

// The same for texts of any size: only paths that follow `directory`, the path of the state directory
// relative to the home directory, after "~", "$HOME", "${HOME}" or `home`. Finds missing files too.
std::set<std::string> named_from_home(std::string_view text, std::string_view directory,
                                      std::string_view home);

}  // namespace plan
