// SPDX-License-Identifier: MIT
#include "slurm/queries/handlers.h"

#include "slurm/options/option.h"

namespace slurm::queries {

chaperon::Ending handle_refused(const chaperon::Context&, const chaperon::Call& call,
                                chaperon::Conversation& conversation) {
    const RefusedCommand* refused = find_refused_command(call.command);
    if (!refused) return conversation.deny({std::string(code::command), "not available in the jail", ""});
    return conversation.deny({std::string(refused->code), std::string(refused->reason), ""});
}

const chaperon::Handlers& query_handlers() {
    static const chaperon::Handlers handlers = [] {
        chaperon::Handlers all = {
            {"squeue", handle_squeue}, {"scancel", handle_scancel},   {"scontrol", handle_scontrol},
            {"sacct", handle_sacct},   {"sacctmgr", handle_sacctmgr}, {"sinfo", handle_sinfo},
            {"sstat", handle_sstat},   {"sprio", handle_sprio},       {"sshare", handle_sshare},
            {"sdiag", handle_sdiag},   {"sreport", handle_sreport},
        };
        for (const RefusedCommand& refused : refused_commands()) {
            all.emplace(std::string(refused.name), handle_refused);
        }
        return all;
    }();
    return handlers;
}

}  // namespace slurm::queries
