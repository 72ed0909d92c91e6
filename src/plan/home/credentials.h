// SPDX-License-Identifier: MIT
// Credentials of the home directory that are not a plain file at a usual path.
#pragma once

#include <optional>
#include <string>

#include "host/tree.h"
#include "plan/draft.h"

namespace plan {

// Symbolic links at the names of credentials (share/home/credentials.list). A jail that can write the home
// directory can plant one, and the next start must work or name it.

// The first link in the home directory on the way to a credential.
std::optional<base::Path> link_to_credential(const Draft& draft, const host::Tree::Resolved& credential);

// Whether hiding this place hides a credential. Not where a link leads to a directory that contains the home
// directory, or to a file of the system that everyone reads: no secret is there, and the jail needs both.
// Threat: a planted ~/.netrc -> /usr/bin would keep every command from starting
// (tests/jail/planted_links.bats).
bool may_be_credential(const Draft& draft, const host::Tree::Resolved& credential);

std::string how_to_remove(const base::Path& link);

}  // namespace plan
