// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <string>

#include "base/result.h"
#include "plan/print/explain.h"

namespace cli {

// `words` are the words after `why slurm`: a command, an option of any command ("--container"), or a command
// and one of its options ("sbatch --nodelist=node1"). The program's own tables decide, so the answer is the
// same inside and outside of a jail.
base::Result<plan::Explanation> explain_slurm(const plan::Slurm& slurm, std::span<const std::string> words);

}  // namespace cli
