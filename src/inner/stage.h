// SPDX-License-Identifier: MIT
// The inner stage: our own pid 1 of the jail. The backend's program has built the view and executes this
// program again inside it (or our own child has, and goes on); the stage takes its orders, checks that the
// view is the one that was meant, starts the command in a process group of its own, reaps, passes signals on
// and reports how it ended. It is not dumpable, so nothing in the jail can trace it or read its memory; it
// blocks every signal, so nothing in the jail can disturb it; and it ends, and all the jail with it, when the
// supervisor does.
//
// It knows base alone: what it does is data from outside.
#pragma once

#include <string_view>

namespace inner {

// The first word that makes the program play this part; the second is the number of the descriptor with the
// orders.
inline constexpr std::string_view kRole = "inner-stage";

// Where the jail shows this program.
inline constexpr std::string_view kProgram = "/run/agent-sandbox/agent-sandbox";

struct Orders;

// The part in a process that is a copy of the supervisor and has built the view itself: nothing is executed
// again. The memory of the supervisor comes along; nothing in the jail can read it, and what /proc shows of
// it is overwritten.
int run_copied_stage(const Orders& orders);

// Runs the part; returns the exit status of pid 1, which nobody looks at: the reports say how it ended.
int run_stage(int argc, char** argv);

}  // namespace inner
