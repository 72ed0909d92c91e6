// SPDX-License-Identifier: MIT
// Whether systemd ends a detached session when its user logs out.
#pragma once

#include <string>
#include <vector>

namespace session {

struct LogoutFacts {
    std::string user;
    std::string cgroups;                     // /proc/self/cgroup
    std::vector<std::string> configuration;  // the texts of logind.conf, in the order in which they count
    bool lingers = false;                    // loginctl enable-linger
};

LogoutFacts read_logout_facts(const std::string& user);

// The reason, and the command that changes it; empty: the session goes on, or this machine has no systemd.
std::string reason_for_end_at_logout(const LogoutFacts& facts);

}  // namespace session
