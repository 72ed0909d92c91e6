// SPDX-License-Identifier: MIT
// The command that the real salloc runs for us, outside the jail. It sends the allocation's environment to
// the chaperon and runs as long as the user's command inside.
#pragma once

namespace slurm {

// Writes the environment to standard output, each variable ended by NUL and an empty one last. Waits until
// standard input ends, and returns its last byte as a number.
int run_hold();

}  // namespace slurm
