// SPDX-License-Identifier: MIT
// Where the directories of running sessions are: a private directory of the user on this machine that does
// not survive a reboot. A directory of another user is never used, whatever its name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace session {

// Every place where sessions of this user may be, best first: the user's runtime directory, even if this
// process has no variable for it; a directory in /tmp; and the state directory, which machines may share.
std::vector<std::string> runtime_places(std::string_view runtime_directory, std::string_view state_directory);

// The first of them that is usable, made if it is missing; empty: no place is usable. A place is a directory
// of this user with mode 0700. `taken` is set to one that exists and does not qualify.
std::string make_runtime_place(const std::vector<std::string>& places, std::string* taken = nullptr);

// The directory of one session.
std::string session_directory_path(std::string_view place, std::string_view session);

}  // namespace session
