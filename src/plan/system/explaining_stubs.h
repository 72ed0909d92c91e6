// SPDX-License-Identifier: MIT
// Programs that fail in the jail with messages that do not name the cause. Each has a stub, which runs the
// real program and adds one line if it failed (cli/verbs/explaining_stub.h). A program that is started by its
// absolute path goes without the line.
#pragma once

#include <string_view>

namespace plan {

struct Draft;

struct ExplainedProgram {
    std::string_view name;
    int failure;  // its exit status after an error of its own
    std::string_view why;
};
inline constexpr ExplainedProgram kExplainedPrograms[] = {
    {"ssh", 255, "explains a failure for want of a key"},
    {"podman", 125, "explains why it can't make containers"},
    {"buildah", 125, "explains why it can't make containers"},
};

// Stubs of those that the system has where programs usually are. It looks at names that the search for
// mailers has listed.
void add_explaining_stubs(Draft& draft);

}  // namespace plan
