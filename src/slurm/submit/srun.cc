// SPDX-License-Identifier: MIT
// Theory of operation. Every task that srun starts is this program on the node, which builds the jail and
// runs the agent's command in it. There is no other way. The task's data is passed in variables. A step
// enters the allocation in which the session was started, or one that was made from this session's jails. The
// tag proves this, not the agent's environment.
#include <algorithm>

#include "base/format.h"
#include "base/parse.h"
#include "base/text.h"
#include "slurm/jobs/environment.h"
#include "slurm/jobs/patterns.h"
#include "slurm/scope/rows.h"
#include "slurm/submit/handlers.h"
#include "slurm/submit/parsed_submit.h"

namespace slurm {
namespace {

using chaperon::Call;
using chaperon::Context;
using chaperon::Conversation;
using chaperon::Ending;

// slurm: "all", "none" or the number of a task, which is not a file. stub: a name without patterns, which the
// stub has opened. node: a name with patterns, which is opened on the node.
enum class FileOpener { slurm, stub, node };

FileOpener opener_of(std::string_view value) {
    bool is_number = std::ranges::all_of(value, base::is_digit);
    if (value == "all" || value == "none" || (is_number && !value.empty())) return FileOpener::slurm;
    return value.find('%') == std::string_view::npos ? FileOpener::stub : FileOpener::node;
}

void set_file(const ParsedSubmit& submit, std::string_view option, std::string& of_spec,
              std::vector<std::string>& arguments) {
    std::optional<std::string> value = submit.value_of(option);
    if (!value || value->empty()) return;
    switch (opener_of(*value)) {
        case FileOpener::slurm:
            arguments.push_back(base::format("--{}={}", option, *value));
            return;
        case FileOpener::node:
            of_spec = *value;
            return;
        case FileOpener::stub:
            return;
    }
}

// If the step needs no input, the stub does not read it: another process may share it, such as a shell loop
// that reads lines.
bool reads_input(const ParsedSubmit& submit) {
    std::optional<std::string> input = submit.value_of("input");
    return !input || (*input != "none" && opener_of(*input) != FileOpener::node);
}

std::string asked_job(const Call& call, const ParsedSubmit& submit) {
    if (std::optional<std::string> option = submit.value_of("jobid")) return *option;
    std::string_view variable = value_of(call.environment, "SLURM_JOB_ID");
    if (variable.empty()) variable = value_of(call.environment, "SLURM_JOBID");
    return std::string(variable);
}

// Whether the job has the tag of this session.
base::Result<bool> is_of_session(const Context& context, uint32_t job, Conversation& conversation) {
    base::Result<std::string> nonce = make_nonce();
    if (!nonce) return nonce.error();
    base::Result<chaperon::Captured> answer = conversation.capture("squeue", question(context.uid, *nonce));
    if (!answer) return answer.error();
    JobSet jobs(read_rows(answer->output, *nonce), {.session = context.session});
    return jobs.contains(job);
}

std::optional<Denial> check_job(const Context& context, const std::string& job, Conversation& conversation) {
    if (job == context.launcher_job) return std::nullopt;
    std::optional<uint32_t> number = number_below(job, UINT32_MAX);
    base::Result<bool> is_ours = number ? is_of_session(context, *number, conversation) : false;
    if (!is_ours) return fault(is_ours.error());
    if (*is_ours) return std::nullopt;
    return Denial{
        std::string(code::not_in_scope),
        base::format("job {} was not started from this session", base::printable(job.substr(0, 64))),
        "make an allocation with salloc, or leave out --jobid and unset SLURM_JOB_ID"};
}

Answered run(const Context& context, const Call& call, const ParsedSubmit& submit,
             Conversation& conversation) {
    if (submit.line.words.empty()) {
        conversation.err("srun: fatal: No command given to execute.\n");
        return Ending{.status = kUsage};
    }
    std::vector<std::string> arguments = emit(submit.line);
    std::vector<std::string> variables = submit.variables;
    std::string job = asked_job(call, submit);
    if (job.empty()) {
        if (std::optional<Denial> denial = add_common(context, submit, arguments))
            return conversation.deny(*denial);
    } else {
        if (std::optional<Denial> denial = check_job(context, job, conversation))
            return conversation.deny(*denial);
        arguments.push_back("--jobid=" + job);
        variables.push_back("SLURM_JOB_ID=" + job);
    }
    add_name(submit, base_name(submit.line.words.front()), arguments);

    Spec spec = spec_for(context);
    spec.command = submit.line.words;
    spec.environment = exported(call.environment, submit.value_of("export").value_or(""));
    spec.directory = directory_of(call, submit);
    // Within a job, Slurm's variable contains the directory from which the job was submitted.
    if (!job.empty()) spec.submitted_from = value_of(call.environment, "SLURM_SUBMIT_DIR");
    if (spec.submitted_from.empty()) spec.submitted_from = call.directory;
    spec.appends = submit.value_of("open-mode").value_or("").starts_with('a');
    set_file(submit, "output", spec.output, arguments);
    set_file(submit, "error", spec.error, arguments);
    set_file(submit, "input", spec.input, arguments);
    base::Result<std::vector<std::string>> travelling = step_variables(spec);
    if (!travelling) {
        return conversation.deny(
            {std::string(code::too_large), travelling.error().what, travelling.error().advice});
    }
    variables.insert(variables.end(), travelling->begin(), travelling->end());

    bool has_terminal = submit.has("pty");
    if (has_terminal) arguments.emplace_back("--pty");
    for (std::string word : {std::string("--export=ALL"), "--chdir=" + context.project.str(), context.program,
                             std::string(kEntryRole)})
        arguments.push_back(std::move(word));
    conversation.record("step", {{"job", job}, {"command", base_name(submit.line.words.front())}});
    return answer(conversation.relay("srun", arguments,
                                     {.passes_input = reads_input(submit),
                                      .has_terminal = has_terminal && call.has_terminal,
                                      .variables = std::move(variables)}),
                  conversation);
}

}  // namespace

Ending handle_srun(const Context& context, const Call& call, Conversation& conversation) {
    auto read = read_call(call, {}, conversation);
    if (const auto* answered = std::get_if<Answered>(&read)) return *answered;
    const auto& parsed = std::get<ParsedSubmit>(read);
    if (parsed.line.informs) return inform(call, parsed, conversation);
    return run(context, call, parsed, conversation);
}

}  // namespace slurm
