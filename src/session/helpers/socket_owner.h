// SPDX-License-Identifier: MIT
// The program that has a TCP socket in the jail, for messages to the user. Nothing is decided by it: a
// program chooses its own name, and can pass a socket to another one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace session {

// Looks through this many open files at most, so that a jail can't keep the supervisor busy.
inline constexpr size_t kMostOpenFiles = 4096;

// "curl (process 27)", with the number that the jail sees, if `places` are of its own /proc. Empty: not
// found. `places`: the directories in /proc of the jail's processes; the first one shows the jail's network.
std::string program_with_port(const std::vector<std::string>& places, uint16_t port);

}  // namespace session
