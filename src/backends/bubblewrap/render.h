// SPDX-License-Identifier: MIT
// A plan as arguments of bubblewrap. Pure: all files are open already, and passed as descriptor numbers. Only
// options of bubblewrap 0.4 are used, so that RHEL 8 gets the same jail.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "inner/launch_spec.h"
#include "plan/plan.h"

namespace backends::bubblewrap {

struct Opened {
    std::vector<int> contents;  // one for each mount with has_content(kind), in the order of the mounts
    bool unshares_user = true;  // false: a set-uid bubblewrap on a host that closes user namespaces
    bool shares_ipc = false;    // it is in the right ipc namespace already
    std::map<std::string, std::string> sockets;  // of helpers: name and path; others are left out
    int information = -1;                        // where bubblewrap writes which process is in the namespaces
};

bool has_content(plan::MountKind kind);

// All options in order; the launcher adds the program to execute.
std::vector<std::string> render(const plan::Plan& plan, const Opened& opened);

// What the inner stage must check before the command runs.

// A check for each mount that is pinned or in a writable part of the host, with the current identity of its
// source. An error if a source is missing or has a symbolic link in its path.
base::Result<std::vector<inner::Check>> make_checks(const plan::Plan& plan);

}  // namespace backends::bubblewrap
