// SPDX-License-Identifier: MIT
// Theory of operation. This is not a restriction: the caller can run sbatch directly. So options, directives
// and variables keep Slurm's own meaning, also where Slurm opens files outside. Only the command is replaced
// by this program, which builds the jail on the node and runs the command in it.
#include "cli/slurm/own_jobs.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/file.h"
#include "base/format.h"
#include "base/parse.h"
#include "base/text.h"
#include "cli/arguments.h"
#include "cli/context.h"
#include "cli/output.h"
#include "cli/slurm/jobs.h"
#include "cli/verbs/run.h"
#include "slurm/jobs/environment.h"
#include "slurm/jobs/patterns.h"
#include "slurm/jobs/spec.h"
#include "slurm/options/directives.h"
#include "slurm/options/parse.h"

namespace cli {
namespace {

constexpr size_t kLargestScript = 8u << 20;
constexpr std::string_view kBatch = "sbatch";
constexpr std::string_view kStep = "srun";

// The parsed options as words again, without one of them.
std::vector<std::string> words_of(const slurm::Parsed& parsed, std::string_view left_out) {
    std::vector<std::string> words;
    for (const slurm::ParsedOption& given : parsed.options) {
        if (given.option->name != left_out) slurm::append_canonical(words, given);
    }
    return words;
}

[[noreturn]] void give_up(const std::string& client, Output& output) {
    base::Error error = base::system_error("run " + client, errno);
    error.advice = "is Slurm on this machine, and in PATH?";
    error.exit_code = base::ExitCode::not_found;
    ::_exit(output.fail(error));
}

[[noreturn]] void become(std::vector<std::string> words, Output& output) {
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    ::execvp(pointers.front(), pointers.data());
    give_up(words.front(), output);
}

base::Result<slurm::Parsed> understand(const std::vector<std::string>& words) {
    const slurm::Command& command = *slurm::find_command(base::base_name(words.front()));
    slurm::Parse parse = slurm::parse(command, std::span(words).subspan(1), slurm::Source::users_own);
    if (auto* parsed = std::get_if<slurm::Parsed>(&parse)) return std::move(*parsed);
    const auto* error = std::get_if<slurm::UsageError>(&parse);
    return base::Error{
        .what = error ? std::string(base::trim(error->text)) : "the options are not understood",
        .exit_code = base::ExitCode::usage};
}

// The request for the jail on the node. `command` is the command to run; an agent is recognised by it.
base::Result<slurm::Spec> spec_of(const Invocation& call, const std::vector<std::string>& command) {
    Arguments arguments = call.arguments;
    arguments.words = command;
    base::Result<Settings> settings = load_settings(call.caller, arguments);
    if (!settings) return settings.error();
    base::Result<std::string> session = make_session_id();
    if (!session) return session.error();
    const std::string& project = settings->workspace.physical_project.str();
    struct stat status;
    if (::stat(project.c_str(), &status) != 0)
        return base::system_error("find the project " + project, errno);
    slurm::Spec spec{.project = project,
                     .project_inode = status.st_ino,
                     .options = options_of(call.arguments),
                     .variables = setting_variables(call.caller.environment),
                     .session = *session};
    if (settings->agents.chosen) spec.options.push_back("--agent=" + settings->agents.chosen->name);
    spec.options.emplace_back("--quiet");
    return spec;
}

base::Result<std::string> program_on_nodes(const Invocation& call) {
    base::Result<Settings> settings = load_settings(call.caller, call.arguments);
    if (!settings) return settings.error();
    if (settings->policy.slurm.program) return settings->policy.slurm.program->str();
    char path[4096];
    ssize_t length = ::readlink("/proc/self/exe", path, sizeof path);
    if (length <= 0) return base::system_error("find this program", errno);
    return std::string(path, static_cast<size_t>(length));
}

// The lines that sbatch reads. The job's name comes first, because Slurm would take it from the script's file
// name.
std::string directives_in(std::string_view script, std::string_view name) {
    std::string lines = "#SBATCH --job-name=";
    for (char letter : name) {
        bool is_plain = base::is_letter(letter) || base::is_digit(letter) || letter == '.' || letter == '-';
        lines += is_plain ? letter : '_';
    }
    lines += '\n';
    for (std::string_view line : base::split(script, '\n')) {
        if (!line.empty() && !line.starts_with('#')) break;
        if (line.starts_with("#SBATCH")) lines += base::format("{}\n", line);
    }
    return lines;
}

base::Result<std::string> read_script(const slurm::Parsed& parsed) {
    if (std::optional<std::string> line = parsed.value_of("wrap"))
        return base::format("#!/bin/sh\n\n{}\n", *line);
    base::Result<std::string> text = parsed.words.empty()
                                         ? base::read_descriptor(STDIN_FILENO, kLargestScript)
                                         : base::read_file(parsed.words.front(), kLargestScript);
    if (!text) return text;
    if (std::optional<slurm::UsageError> problem = slurm::check_script(*text))
        return base::Error{.what = std::string(base::trim(problem->text))};
    return text;
}

int submit_batch(const Invocation& call, const slurm::Parsed& parsed) {
    base::Result<std::string> script = read_script(parsed);
    if (!script) return call.output.fail(script.error());
    bool is_file = !parsed.words.empty() && !parsed.has("wrap");
    std::string name = is_file ? std::string(base::base_name(parsed.words.front()))
                               : std::string(parsed.has("wrap") ? "wrap" : kBatch);

    base::Result<slurm::Spec> spec = spec_of(call, {name});
    if (!spec) return call.output.fail(spec.error());
    spec->is_batch = true;
    spec->script = *script;
    if (is_file) spec->command.assign(parsed.words.begin() + 1, parsed.words.end());
    base::Result<std::string> program = program_on_nodes(call);
    if (!program) return call.output.fail(program.error());
    base::Result<std::string> file = slurm::job_file(*program, *spec, directives_in(*script, name));
    if (!file) return call.output.fail(file.error());
    base::Result<base::Fd> input = base::memory_file("job", *file);
    if (!input) return call.output.fail(input.error());
    ::dup2(input->get(), STDIN_FILENO);

    std::vector<std::string> words = words_of(parsed, "wrap");
    words.insert(words.begin(), std::string(kBatch));
    become(std::move(words), call.output);
}

// A list in --export must also include the variables that carry the step.
void widen_export(std::vector<std::string>& words, const std::vector<std::string>& variables) {
    auto choice =
        std::ranges::find_if(words, [](const std::string& word) { return word.starts_with("--export="); });
    if (choice == words.end()) return;
    std::string value = choice->substr(choice->find('=') + 1);
    if (value == "NONE" || value == "NIL") value.clear();
    for (const std::string& variable : variables)
        value += (value.empty() ? "" : ",") + variable.substr(0, variable.find('='));
    *choice = "--export=" + value;
}

int run_step(const Invocation& call, const slurm::Parsed& parsed) {
    base::Result<slurm::Spec> spec = spec_of(call, parsed.words);
    if (!spec) return call.output.fail(spec.error());
    spec->command = parsed.words;
    base::Result<std::vector<std::string>> variables = slurm::step_variables(*spec);
    if (!variables) return call.output.fail(variables.error());
    base::Result<std::string> program = program_on_nodes(call);
    if (!program) return call.output.fail(program.error());

    std::vector<std::string> words = words_of(parsed, "");
    widen_export(words, *variables);
    if (!parsed.has("job-name"))
        words.push_back(base::format("--job-name={}", base::base_name(parsed.words.front())));
    words.insert(words.begin(), std::string(kStep));
    words.push_back(*program);
    words.emplace_back(slurm::kEntryRole);
    for (const std::string& variable : *variables) {
        size_t equals = variable.find('=');
        ::setenv(variable.substr(0, equals).c_str(), variable.c_str() + equals + 1, 1);
    }
    become(std::move(words), call.output);
}

}  // namespace

bool is_own_job(const Caller& caller, const std::vector<std::string>& command) {
    bool is_inside = host::variable(caller.environment, "AGENT_SANDBOX") == "1";
    if (command.empty() || is_inside) return false;
    std::string_view name = base::base_name(command.front());
    return name == kBatch || name == kStep;
}

int submit_own_job(const Invocation& call) {
    const std::vector<std::string>& words = call.arguments.words;
    base::Result<slurm::Parsed> parsed = understand(words);
    if (!parsed) return call.output.fail(parsed.error());
    bool is_step = base::base_name(words.front()) == kStep;
    // Slurm's command itself prints its help and version, and the error for a missing command.
    if (parsed->informs || (is_step && parsed->words.empty())) become(words, call.output);
    return is_step ? run_step(call, *parsed) : submit_batch(call, *parsed);
}

}  // namespace cli
