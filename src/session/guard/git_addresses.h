// SPDX-License-Identifier: MIT
// Where the address of a git repository leads, as seen from outside the jail.
#pragma once

#include <string_view>

namespace session {

// Threat: `git push` to a local repository, or to one that ssh reaches on this host or on another node, runs
// its hooks, and a session can write everything in its project. Another session may have another project, so
// every directory that this user can write counts (tests/jail/git_addresses.bats). `server` is empty for a
// path on this host.
bool is_beyond_user(std::string_view server, std::string_view path);

}  // namespace session
