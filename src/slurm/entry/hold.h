// SPDX-License-Identifier: MIT
// The command that the real salloc runs in our name, outside the jail: it tells the chaperon what the
// allocation is, and lasts as long as the user's command does, inside.
#pragma once

namespace slurm {

// Writes the environment to standard output, each variable ended by NUL and an empty one last; waits until
// standard input ends, and returns the number that was the last byte on it.
int run_hold();

}  // namespace slurm
