// SPDX-License-Identifier: MIT
// The commands that start something: sbatch, srun and salloc.
#pragma once

#include "slurm/chaperon/conversation.h"

namespace slurm {

chaperon::Ending handle_sbatch(const chaperon::Context&, const chaperon::Call&, chaperon::Conversation&);
chaperon::Ending handle_srun(const chaperon::Context&, const chaperon::Call&, chaperon::Conversation&);
chaperon::Ending handle_salloc(const chaperon::Context&, const chaperon::Call&, chaperon::Conversation&);

chaperon::Handlers submit_handlers();

}  // namespace slurm
