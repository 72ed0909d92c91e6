// SPDX-License-Identifier: MIT
// Theory of operation. Slurm gets a file whose first line names this program as its interpreter and whose
// other lines are base64. So no text of the agent is a directive, and no line of it runs outside the jail.
// One table judges the options of the command line, the variables and the directives. They go to the real
// command line in canonical form. Slurm opens one file itself, the start-up output, in our own state
// directory. The agent's files are opened inside the jail (slurm/entry).
#include <algorithm>
#include <cstdlib>
#include <memory>

#include "base/file.h"
#include "base/parse.h"
#include "base/text.h"
#include "slurm/jobs/environment.h"
#include "slurm/jobs/spec.h"
#include "slurm/options/directives.h"
#include "slurm/scope/identity.h"
#include "slurm/submit/credentials.h"
#include "slurm/submit/handlers.h"
#include "slurm/submit/parsed_submit.h"

namespace slurm {
namespace {

using chaperon::Call;
using chaperon::Context;
using chaperon::Conversation;
using chaperon::Ending;

// sbatch's names for a job whose script is not a file.
constexpr std::string_view kNameOfWrap = "wrap";
constexpr std::string_view kNameOfInput = "sbatch";

struct Script {
    std::string text;
    std::string name;  // of the job, if it has no name option
    std::string path;  // scontrol shows it as the command
    std::vector<std::string> arguments;
};

std::optional<std::string> wrapped(const Call& call) {
    Parse line = parse(*find_command(call.command), call.arguments);
    const auto* parsed = std::get_if<Parsed>(&line);
    return parsed ? parsed->value_of("wrap") : std::nullopt;
}

std::string absolute(std::string_view path, std::string_view directory) {
    return path.starts_with('/') ? std::string(path) : std::string(directory) + "/" + std::string(path);
}

// Sets the job's output and input files, as patterns.
void set_files(Spec& spec, const ParsedSubmit& submit) {
    bool is_array = submit.has("array");
    spec.output = submit.value_of("output").value_or("");
    if (spec.output.empty()) spec.output = is_array ? kDefaultArrayOutput : kDefaultOutput;
    spec.error = submit.value_of("error").value_or("");
    spec.input = submit.value_of("input").value_or("");
    spec.appends = submit.value_of("open-mode").value_or("").starts_with('a');
}

const chaperon::WritablePlace* place_of(const Context& context, const base::Path& file) {
    const chaperon::WritablePlace* found = nullptr;
    for (const chaperon::WritablePlace& place : context.places) {
        if (!file.is_within(place.path)) continue;
        if (found == nullptr || place.path.is_within(found->path)) found = &place;
    }
    return found;
}

// The nearest directory above the file that exists outside, without links: a link may lead from the private
// home directory to the project.
base::Path physical_parent(const base::Path& file) {
    for (base::Path parent = file.parent(); !parent.is_root(); parent = parent.parent()) {
        std::unique_ptr<char, decltype(&::free)> text(::realpath(parent.str().c_str(), nullptr), &::free);
        if (text) return base::Path::known(text.get());
    }
    return base::Path();
}

// Tells at the submission where a file of the job will be lost, because later there is no trace of it.
void tell_about_file(const Context& context, const std::string& option, const std::string& name,
                     Conversation& conversation) {
    base::Result<base::Path> file = base::Path::parse(name);
    if (context.places.empty() || !file || file->is_within(base::Path::known("/dev"))) return;
    const chaperon::WritablePlace* place = place_of(context, *file);
    if (place != nullptr && place->lasts) return;
    const chaperon::WritablePlace* other = place_of(context, physical_parent(*file));
    if (other != nullptr && other->lasts) return;
    conversation.err(base::format("sbatch: --{}={}: {}; a file in {} stays\n", option, base::printable(name),
                                  place == nullptr
                                      ? "the jail can't write there, so the job will not start"
                                      : "files there belong to the job's jail and are removed with it",
                                  context.project.str()));
}

// Expands the values that are known before the job runs. The rest stays a pattern.
std::string shown_name(const std::string& pattern, const Spec& spec, const std::string& job,
                       const std::string& name, const std::string& user) {
    if (pattern.empty()) return {};
    std::vector<std::string> facts = {"SLURM_JOB_ID=" + job, "SLURM_JOB_NAME=" + name, "USER=" + user,
                                      "SLURM_ARRAY_TASK_ID=%a", "SLURMD_NODENAME=%N"};
    return expand_pattern(pattern, facts, spec.directory);
}

Record record_of(const Context& context, const Spec& spec, const Script& script, const std::string& job,
                 const std::string& name) {
    auto shown = [&](const std::string& pattern) {
        return shown_name(pattern, spec, job, name, context.user);
    };
    Record record{.project = project_part(context.project),
                  .command = script.path,
                  .directory = spec.directory,
                  .output = shown(spec.output)};
    for (const std::string& argument : script.arguments) record.command += " " + argument;
    record.error = spec.error.empty() ? record.output : shown(spec.error);
    record.input = spec.input.empty() ? "/dev/null" : shown(spec.input);
    return record;
}

// "Submitted batch job 17", "Submitted batch job 17 on cluster x", "17", "17;cluster".
std::string job_in(std::string_view line) {
    line = line.substr(0, std::min(line.find(';'), line.find(" on cluster ")));
    size_t blank = line.rfind(' ');
    std::string_view last = base::trim(blank == std::string_view::npos ? line : line.substr(blank + 1));
    bool is_number = !last.empty() && std::ranges::all_of(last, base::is_digit);
    return is_number ? std::string(last) : "";
}

// sbatch's own message.
constexpr std::string_view kNoArgumentsWithWrap =
    "sbatch: error: Script arguments not permitted with --wrap option\n";

std::variant<Script, Answered> script_of(const Call& call, const ParsedSubmit& submit,
                                         Conversation& conversation) {
    const std::vector<std::string>& words = submit.line.words;
    if (std::optional<std::string> line = submit.line.value_of("wrap")) {
        if (!words.empty()) {
            conversation.err(kNoArgumentsWithWrap);
            return Ending{.status = kUsage};
        }
        return Script{base::format("#!/bin/sh\n# made from --wrap\n\n{}\n", *line),
                      std::string(kNameOfWrap),
                      "(null)",
                      {}};
    }
    Script script{.text = call.script.value_or("")};
    if (words.empty()) {
        script.name = kNameOfInput;
        script.path = "(null)";
    } else {
        script.name = base_name(words.front());
        script.path = absolute(words.front(), call.directory);
        script.arguments.assign(words.begin() + 1, words.end());
    }
    if (std::optional<UsageError> error = check_script(script.text)) {
        conversation.err(error->text);
        return Ending{.status = error->exit_code};
    }
    return script;
}

Answered submit(const Context& context, const Call& call, const ParsedSubmit& submit, Script script,
                Conversation& conversation) {
    const JobText text{"the script", script.text};
    std::optional<Denial> held = refuse_placeholders(context, std::span(&text, 1));
    if (!held) held = refuse_placeholders(context, call.arguments);
    if (held) return conversation.deny(*held);
    std::vector<std::string> arguments = emit(submit.line);
    if (std::optional<Denial> denial = add_common(context, submit, conversation, arguments))
        return conversation.deny(*denial);
    add_name(submit, script.name, arguments);
    if (std::optional<Denial> denial = refuse_placeholders(context, arguments))
        return conversation.deny(*denial);
    std::string name = arguments.back().substr(arguments.back().find('=') + 1);

    Spec spec = spec_for(context);
    spec.is_batch = true;
    spec.script = script.text;
    spec.command = script.arguments;
    std::string choice = submit.value_of("export").value_or("");
    spec.environment = submit.has("export-file")
                           ? exported_with_file(call.environment, choice, context.jail_environment)
                           : exported(call.environment, choice, context.jail_environment);
    leave_out_session(context, spec.environment);
    spec.directory = directory_of(call, submit);
    spec.submitted_from = call.directory;
    set_files(spec, submit);
    base::Result<std::string> file = job_file(context.program, spec);
    if (!file)
        return conversation.deny({std::string(code::too_large), file.error().what, file.error().advice});

    std::string outputs = context.state_directory + "/slurm/output";
    if (base::Status made = base::make_directories(outputs); !made)
        return conversation.deny(fault(made.error()));
    for (std::string option :
         {base::format("--output={}/%j", outputs), std::string("--open-mode=append"),
          std::string("--export=ALL"), std::string("--ignore-pbs"), "--chdir=" + context.project.str()})
        arguments.push_back(std::move(option));
    if (submit.has("wait")) arguments.emplace_back("--wait");

    bool is_submitted = false;
    chaperon::Conversation::Relayed how{.input = *std::move(file), .variables = submit.variables};
    how.rewrite = [&](std::string_view line) {
        std::string job = is_submitted ? "" : job_in(line);
        if (!job.empty()) {
            is_submitted = true;
            Record record = record_of(context, spec, script, job, name);
            (void)keep_record(context.state_directory, job, record);
            tell_about_credentials(context, submit.command, conversation);
            tell_about_file(context, "output", record.output, conversation);
            if (!spec.error.empty()) tell_about_file(context, "error", record.error, conversation);
            conversation.record("submitted", {{"job", job}, {"name", name}});
        }
        return std::string(line);
    };
    return answer(conversation.relay("sbatch", arguments, how), conversation);
}

}  // namespace

Ending handle_sbatch(const Context& context, const Call& call, Conversation& conversation) {
    // The text of --wrap has no directives, because it is not a script yet.
    std::string_view text = call.script && !wrapped(call) ? *call.script : std::string_view();
    auto read = read_call(call, text, conversation);
    if (const auto* answered = std::get_if<Answered>(&read)) return *answered;
    auto& parsed = std::get<ParsedSubmit>(read);
    if (parsed.line.informs) return inform(call, parsed, conversation);
    auto script = script_of(call, parsed, conversation);
    if (const auto* answered = std::get_if<Answered>(&script)) return *answered;
    return submit(context, call, parsed, std::get<Script>(std::move(script)), conversation);
}

}  // namespace slurm
