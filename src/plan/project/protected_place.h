// SPDX-License-Identifier: MIT
// Paths of a project that a session must not write (project.protect), seen from a project below its real
// root.
#pragma once

#include <optional>

#include "plan/draft.h"

namespace plan {

// Whether project.unprotect lifts this entry of project.protect.
bool is_lifted(const policy::Policy& policy, const config::Item& item);

struct ProtectedPlace {
    base::Path root;  // of the real project
    base::Path path;  // the protected one that the project is in, or the project itself
    std::string why;
};

// Where the project is, or is in, a path that is protected in a project above it. As a project of its own,
// such a directory would be writable. Threat: "cd .vscode && agent-sandbox" (tests/jail/protected.bats). A
// directory with a ".git" of its own is another project: agents put worktrees into their directories.
std::optional<ProtectedPlace> protected_place(const Draft& draft);

// Whether the project is a bare repository: its hooks and its configuration would be writable.
bool is_bare_repository(const Draft& draft);

}  // namespace plan
