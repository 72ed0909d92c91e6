// SPDX-License-Identifier: MIT
// The entry point that Slurm starts on a node, for a batch job or for one task of a step.
#pragma once

namespace cli {

int run_slurm_entry(int argc, char** argv);

}  // namespace cli
