// SPDX-License-Identifier: MIT
// The inner stage: our own pid 1 of the jail. The backend's program builds the view and executes this program
// again inside it (or our own child builds it and becomes the stage). The stage reads its launch
// specification, checks that the view is the intended one, starts the command in its own process group,
// reaps, passes signals on and reports how the command ended. It is not dumpable, so no process of the jail
// can trace it or read its memory. It blocks every signal, so no process of the jail can disturb it. It ends
// when the supervisor does, and the jail ends with it.
//
// It uses neither the plan nor the session: its launch specification is data from outside.
#pragma once

#include <string_view>

namespace inner {

// The first argument that selects this role; the second is the number of the descriptor with the launch
// specification.
inline constexpr std::string_view kRole = "inner-stage";

struct LaunchSpec;

// The role in a process that is a copy of the supervisor and has built the view itself: nothing is executed
// again. It inherits the memory of the supervisor; no process of the jail can read it, and what /proc shows
// of it is overwritten.
int run_copied_stage(const LaunchSpec& spec);

// Runs the role. Returns the exit status of pid 1, which is not used: the reports describe the end.
int run_stage(int argc, char** argv);

}  // namespace inner
