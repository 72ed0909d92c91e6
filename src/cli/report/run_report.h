// SPDX-License-Identifier: MIT
// What a run prints besides the command's output: a command that exists only outside, and what the search of
// the project found after the start.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/path.h"
#include "base/result.h"
#include "cli/context.h"
#include "cli/output.h"
#include "host/tree.h"
#include "plan/plan.h"
#include "session/session.h"

namespace cli {

// Finds programs on the host, and the flags that would show one in the jail.

// How to resolve a word of a command line: as a path, or as a name in the directories of `search_path`.
struct Lookup {
    std::string_view search_path;
    const base::Path& working_directory;
};
std::optional<base::Path> find_program(const host::Tree& tree, const Lookup& lookup, const std::string& word);

bool is_visible(const plan::Plan& plan, const host::Tree& tree, const base::Path& program);

// " --ro DIRECTORY" for each directory that the program needs and the jail does not show; empty if no flag
// would help.
std::string flags_that_show(const plan::Plan& plan, const host::Tree& tree, const base::Path& program);

// A new user often runs a command that exists outside but not in the jail: print where it is and which flag
// would show it.

// Advice for a command that is not in PATH, neither in the jail nor outside.
std::string hint_for_nothing(const std::string& word, const Caller& caller);

// Adds advice to `error` if it reports that the command was not found; else returns it unchanged.
base::Error with_hint(base::Error error, const Planned& planned, const Caller& caller);

// Prints at the end of a session what the search of the project found after the start.

void tell_search(const Output& output, const session::SearchProgress::Report& search, const Planned& planned);

}  // namespace cli
