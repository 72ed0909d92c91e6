// SPDX-License-Identifier: MIT
// Handlers of the commands that query jobs and nodes or act on existing jobs, and of those that never run.
// Each handler parses the command line by its command's table, restricts it to the session's scope, and lets
// the real command answer, with its own messages and exit code. A job out of scope looks as if it did not
// exist.
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
// Answers with the reason from the table of refused commands.
chaperon::Ending handle_refused(const chaperon::Context&, const chaperon::Call&, chaperon::Conversation&);

// All handlers by the names of their commands.
const chaperon::Handlers& query_handlers();

}  // namespace slurm::queries
