// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <string>

#include "base/result.h"
#include "plan/explain.h"

namespace cli {

// `words` are what follows `why slurm`: a command, an option of any command ("--container"), or a command and
// an option of it ("sbatch --nodelist=node1"). The tables that decide are the program's own, so the answer is
// the same inside a jail and outside.
base::Result<plan::Explanation> explain_slurm(const plan::Slurm& slurm, std::span<const std::string> words);

}  // namespace cli
