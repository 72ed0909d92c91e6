// SPDX-License-Identifier: MIT
// The commands that ask about jobs and nodes or act on jobs that exist, and those that are never run. Each
// handler reads the line by its command's table, narrows it to what the session may see, and lets the real
// command answer: its own words, its own exit code. What the jail may not know of does not exist.
#pragma once

#include "slurm/chaperon/conversation.h"

namespace slurm::queries {

chaperon::Ending handle_squeue(const chaperon::Context&, const chaperon::Call&, chaperon::Conversation&);
chaperon::Ending handle_scancel(const chaperon::Context&, const chaperon::Call&, chaperon::Conversation&);
chaperon::Ending handle_scontrol(const chaperon::Context&, const chaperon::Call&, chaperon::Conversation&);
chaperon::Ending handle_sacct(const chaperon::Context&, const chaperon::Call&, chaperon::Conversation&);
chaperon::Ending handle_sacctmgr(const chaperon::Context&, const chaperon::Call&, chaperon::Conversation&);
chaperon::Ending handle_sinfo(const chaperon::Context&, const chaperon::Call&, chaperon::Conversation&);
chaperon::Ending handle_sstat(const chaperon::Context&, const chaperon::Call&, chaperon::Conversation&);
chaperon::Ending handle_sprio(const chaperon::Context&, const chaperon::Call&, chaperon::Conversation&);
chaperon::Ending handle_sshare(const chaperon::Context&, const chaperon::Call&, chaperon::Conversation&);
chaperon::Ending handle_sdiag(const chaperon::Context&, const chaperon::Call&, chaperon::Conversation&);
chaperon::Ending handle_sreport(const chaperon::Context&, const chaperon::Call&, chaperon::Conversation&);
// Answers with the reason that the table of refused commands has.
chaperon::Ending handle_refused(const chaperon::Context&, const chaperon::Call&, chaperon::Conversation&);

// All of them by the names of their commands.
const chaperon::Handlers& query_handlers();

}  // namespace slurm::queries
