// SPDX-License-Identifier: MIT
// Theory of operation. The real salloc keeps the allocation while its command runs. That command is ours
// (slurm/entry/hold.h) and only waits. The user's command runs inside the existing jail, with the variables
// of the allocation, and the steps that it starts enter the allocation (srun.cc).
#include <algorithm>

#include "slurm/submit/handlers.h"
#include "slurm/submit/parsed_submit.h"

namespace slurm {
namespace {

using chaperon::Call;
using chaperon::Context;
using chaperon::Conversation;
using chaperon::Ending;

constexpr std::string_view kNameOfShell = "interactive";

// The variables that salloc sets for its command about the allocation.
std::vector<std::string> variables_of_allocation(const std::vector<std::string>& environment,
                                                 const std::string& directory) {
    std::vector<std::string> chosen;
    std::ranges::copy_if(environment, std::back_inserter(chosen), [](const std::string& entry) {
        return entry.starts_with("SLURM_") && !entry.starts_with("SLURM_CONF=") &&
               !entry.starts_with("SLURM_SUBMIT_DIR=");
    });
    // The real salloc was called in another directory.
    chosen.push_back("SLURM_SUBMIT_DIR=" + directory);
    return chosen;
}

}  // namespace

Ending handle_salloc(const Context& context, const Call& call, Conversation& conversation) {
    auto read = read_call(call, {}, conversation);
    if (const auto* answered = std::get_if<Answered>(&read)) return *answered;
    const auto& parsed = std::get<ParsedSubmit>(read);
    if (parsed.line.informs) return inform(call, parsed, conversation);

    const std::vector<std::string>& words = parsed.line.words;
    std::vector<std::string> arguments = emit({.options = parsed.from_variables});
    std::ranges::move(emit(parsed.line), std::back_inserter(arguments));
    if (std::optional<Denial> denial = add_common(context, parsed, arguments))
        return conversation.deny(*denial);
    std::string name = words.empty() ? std::string(kNameOfShell) : base_name(words.front());
    add_name(parsed, name, arguments);
    arguments.push_back("--chdir=" + context.project.str());
    conversation.record("allocation", {{"name", name}});
    if (parsed.has("no-shell")) {
        arguments.emplace_back("--no-shell");
        return answer(conversation.relay("salloc", arguments, {}), conversation);
    }
    arguments.push_back(context.program);
    arguments.emplace_back(kHoldRole);
    auto variables = [&](const std::vector<std::string>& environment) {
        return variables_of_allocation(environment, call.directory);
    };
    return answer(conversation.hold("salloc", arguments, variables), conversation);
}

chaperon::Handlers submit_handlers() {
    return {{"sbatch", handle_sbatch}, {"srun", handle_srun}, {"salloc", handle_salloc}};
}

}  // namespace slurm
