// SPDX-License-Identifier: MIT
// Where the directories of running sessions lie: a place of the user's alone, on this machine, that does not
// outlive it. Another user's directory is never taken for ours, whatever its name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace session {

// Every place where sessions of this user may be, best first: the user's runtime directory, whether this
// process was told of it or not, a directory in /tmp, and the state directory, which may be shared between
// machines.
std::vector<std::string> runtime_places(std::string_view runtime_directory, std::string_view state_directory);

// The first of them that can be had, made where it is missing; empty: none. A place is a directory of this
// user with mode 0700; `taken` names one that is there and is something else.
std::string make_runtime_place(const std::vector<std::string>& places, std::string* taken = nullptr);

// Of one session.
std::string session_directory_path(std::string_view place, std::string_view session);

}  // namespace session
