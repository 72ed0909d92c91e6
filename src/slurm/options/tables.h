// SPDX-License-Identifier: MIT
// The tables behind commands(): one file for commands that start jobs, one for queries.
#pragma once

#include <span>

#include "slurm/options/option.h"

namespace slurm::tables {

std::span<const Option> sbatch();
std::span<const Option> srun();
std::span<const Option> salloc();
std::span<const Option> squeue();
std::span<const Option> scancel();
std::span<const Option> scontrol();
std::span<const Option> sacct();
std::span<const Option> sacctmgr();
std::span<const Option> sinfo();
std::span<const Option> sstat();
std::span<const Option> sprio();
std::span<const Option> sshare();
std::span<const Option> sdiag();
std::span<const Option> sreport();

std::span<const Variable> sbatch_variables();
std::span<const Variable> srun_variables();
std::span<const Variable> salloc_variables();

}  // namespace slurm::tables
