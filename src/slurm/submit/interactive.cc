// SPDX-License-Identifier: MIT
// srun and salloc: commands that run as long as the user's command.
#include <algorithm>

#include "base/parse.h"
#include "base/text.h"
#include "slurm/jobs/environment.h"
#include "slurm/jobs/spec.h"
#include "slurm/scope/identity.h"
#include "slurm/scope/rows.h"
#include "slurm/submit/credentials.h"
#include "slurm/submit/handlers.h"
#include "slurm/submit/parsed_submit.h"

namespace slurm {

// Theory of operation. Every task that srun starts is this program on the node, which builds the jail and
// runs the agent's command in it. There is no other way. The task's data is passed in variables. A step
// enters the allocation in which the session was started, one that was made from this session's jails, or a
// job that another session of the project submitted. The tag and the chaperon's own record prove this, not
// the agent's environment.

namespace {

using chaperon::Call;
using chaperon::Context;
using chaperon::Conversation;
using chaperon::Ending;

// The value with which srun prints its MPI plug-ins and starts nothing.
constexpr std::string_view kListOfMpi = "list";

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

// Whether a chaperon of this project submitted the job. Threat: a tag alone does not prove that the job runs
// in a jail, because it is text in a comment; the record is a file that no jail sees.
// (tests/slurm/scope.bats: a step enters only …)
bool is_of_project(const Context& context, const std::vector<JobRow>& rows, uint32_t job) {
    if (context.scope == chaperon::Scope::session) return false;
    const std::string project = project_part(context.project);
    JobSet jobs(rows, {.project = project});
    if (!jobs.contains(job)) return false;
    return std::ranges::any_of(jobs.rows_of(job), [&](const JobRow* row) {
        for (uint32_t number : {row->job, row->leader}) {
            std::optional<Record> record = find_record(context.state_directory, std::to_string(number));
            if (record && record->project == project) return true;
        }
        return false;
    });
}

base::Result<bool> may_enter(const Context& context, uint32_t job, Conversation& conversation) {
    base::Result<std::string> nonce = make_nonce();
    if (!nonce) return nonce.error();
    base::Result<chaperon::Captured> answer = conversation.capture("squeue", question(context.uid, *nonce));
    if (!answer) return answer.error();
    std::vector<JobRow> rows = read_rows(answer->output, *nonce);
    return JobSet(rows, {.session = context.session}).contains(job) || is_of_project(context, rows, job);
}

std::optional<Denial> check_job(const Context& context, const std::string& job, Conversation& conversation) {
    if (job == context.launcher_job) return std::nullopt;
    std::optional<uint32_t> number = number_below(job, UINT32_MAX);
    base::Result<bool> is_ours = number ? may_enter(context, *number, conversation) : false;
    if (!is_ours) return fault(is_ours.error());
    if (*is_ours) return std::nullopt;
    return Denial{std::string(code::not_in_scope),
                  base::format("job {} was not submitted from this {}", base::printable(job.substr(0, 64)),
                               context.scope == chaperon::Scope::session ? "session" : "project"),
                  "make an allocation with salloc, or leave out --jobid and unset SLURM_JOB_ID"};
}

Answered run(const Context& context, const Call& call, const ParsedSubmit& submit,
             Conversation& conversation) {
    if (submit.line.words.empty() && submit.value_of("mpi") == kListOfMpi)
        return answer(conversation.relay("srun", {"--mpi=list"}, {}), conversation);
    if (submit.line.words.empty()) {
        conversation.err("srun: fatal: No command given to execute.\n");
        return Ending{.status = kUsage};
    }
    if (std::optional<Denial> denial = refuse_placeholders(context, call.arguments))
        return conversation.deny(*denial);
    std::vector<std::string> arguments = emit(submit.line);
    std::vector<std::string> variables = submit.variables;
    std::string job = asked_job(call, submit);
    if (job.empty()) {
        if (std::optional<Denial> denial = add_common(context, submit, conversation, arguments))
            return conversation.deny(*denial);
    } else {
        if (std::optional<Denial> denial = check_job(context, job, conversation))
            return conversation.deny(*denial);
        arguments.push_back("--jobid=" + job);
        variables.push_back("SLURM_JOB_ID=" + job);
    }
    add_name(submit, base_name(submit.line.words.front()), arguments);
    if (std::optional<Denial> denial = refuse_placeholders(context, arguments))
        return conversation.deny(*denial);

    Spec spec = spec_for(context);
    spec.command = submit.line.words;
    spec.environment =
        exported(call.environment, submit.value_of("export").value_or(""), context.jail_environment);
    leave_out_session(context, spec.environment);
    tell_about_credentials(context, submit.command, conversation);
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

// Theory of operation. The real salloc keeps the allocation while its command runs. That command is ours
// (slurm/entry/payload.h) and only waits. The user's command runs inside the existing jail, with the
// variables of the allocation, and the steps that it starts enter the allocation.

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
    if (std::optional<Denial> denial = add_common(context, parsed, conversation, arguments))
        return conversation.deny(*denial);
    std::string name = words.empty() ? std::string(kNameOfShell) : base_name(words.front());
    add_name(parsed, name, arguments);
    if (std::optional<Denial> denial = refuse_placeholders(context, arguments))
        return conversation.deny(*denial);
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
