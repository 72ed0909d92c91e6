// SPDX-License-Identifier: MIT
// A plan as arguments of bubblewrap. Pure: what must be opened has been opened, and comes as numbers. Only
// options that bubblewrap 0.4 knows are used, so that RHEL 8 gets the same jail.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "plan/plan.h"

namespace backends::bubblewrap {

struct Opened {
    std::vector<int> contents;  // one for each mount with has_content(kind), in the order of the mounts
    bool unshares_user = true;  // false: a set-uid bubblewrap on a host that closes user namespaces
    bool shares_ipc = false;    // it is in the right ipc namespace already
    std::map<std::string, std::string> sockets;  // of helpers: name and path; others are left out
    int information = -1;                        // where bubblewrap says which process is in the namespaces
};

bool has_content(plan::MountKind kind);

// All options in order; the program to execute is the launcher's to add.
std::vector<std::string> render(const plan::Plan& plan, const Opened& opened);

}  // namespace backends::bubblewrap
