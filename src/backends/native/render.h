// SPDX-License-Identifier: MIT
// A plan as the steps of the native backend. Pure. The result equals what bubblewrap makes of the same plan,
// including the modes of the directories that lead to a mount (tests/jail/differential.bats).
#pragma once

#include <map>
#include <string>

#include "backends/native/script.h"
#include "plan/plan.h"

namespace backends::native {

struct Circumstances {
    bool shares_ipc = false;                     // the jail is in the ipc namespace of a job
    std::map<std::string, std::string> sockets;  // of helpers: name and path; others are left out
    std::string console;                         // the terminal that the command writes to; empty: none
};

// Points into the plan and the circumstances, which must outlive it.
Script render(const plan::Plan& plan, const Circumstances& circumstances);

}  // namespace backends::native
