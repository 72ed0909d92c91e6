// SPDX-License-Identifier: MIT
// Jobs that the user submits with `agent-sandbox sbatch …` and `agent-sandbox srun …`.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/file.h"
#include "base/parse.h"
#include "base/text.h"
#include "cli/arguments.h"
#include "cli/broker.h"
#include "cli/context.h"
#include "cli/output.h"
#include "cli/slurm/jobs.h"
#include "cli/verbs.h"
#include "cli/verbs/run.h"
#include "outside/program.h"
#include "secrets/outside.h"
#include "slurm/jobs/environment.h"
#include "slurm/jobs/spec.h"
#include "slurm/options/directives.h"
#include "slurm/options/option.h"
#include "slurm/options/parse.h"
#include "slurm/scope/identity.h"

namespace cli {

// Theory of operation. This is not a restriction: the caller can run sbatch directly. So options, directives
// and variables keep Slurm's own meaning, also where Slurm opens files outside. Only the command is replaced
// by this program, which builds the jail on the node and runs the command in it.
//
// Threat: Slurm's command runs outside, with the caller's variables, in the project. So it is the one that
// the plan of a session found, which no jail can write, and it gets no variable that leads to such a place.
// The job's command gets these variables on the node, in its jail (tests/jail/outside.bats).

namespace {

constexpr size_t kLargestScript = 8u << 20;
constexpr std::string_view kBatch = "sbatch";
constexpr std::string_view kStep = "srun";

// The parsed options as words again, without some of them.
std::vector<std::string> words_of(const slurm::Parsed& parsed,
                                  std::initializer_list<std::string_view> left_out) {
    std::vector<std::string> words;
    for (const slurm::ParsedOption& given : parsed.options) {
        if (std::ranges::find(left_out, given.option->name) == left_out.end())
            slurm::append_canonical(words, given);
    }
    return words;
}

// An option of the script's directives, which the command line overrides.
std::string value_in(std::string_view script, std::string_view option) {
    auto read = slurm::directives_of(script, "");
    const auto* directives = std::get_if<slurm::Directives>(&read);
    if (directives == nullptr) return {};
    slurm::Parse parse =
        slurm::parse(*slurm::find_command(kBatch), directives->words, slurm::Source::users_own);
    const auto* parsed = std::get_if<slurm::Parsed>(&parse);
    return parsed == nullptr ? "" : parsed->value_of(option).value_or("");
}

// The tag makes it a job of the project, which sessions of the project see. Without room for it the comment
// stays as it is.
void add_comment(std::vector<std::string>& words, const std::string& comment, const slurm::Spec& spec) {
    base::Result<std::string> tagged =
        slurm::append_tag(comment, slurm::make_tag(spec.session, base::Path::known(spec.project)));
    if (tagged || !comment.empty()) words.push_back("--comment=" + (tagged ? *tagged : comment));
}

// Slurm's own command.
struct Client {
    outside::Program program;
    std::vector<std::string> environment;
};

base::Result<Client> find_client(const Invocation& call, const Planned& planned, std::string_view name) {
    const std::vector<plan::SlurmCommand>& commands = planned.plan.slurm.commands;
    auto found = std::ranges::find(commands, name, &plan::SlurmCommand::name);
    if (found == commands.end()) {
        return base::Error{
            .what = base::format("cannot run {}: it is not in PATH, or only where a jail can write", name),
            .advice = "is Slurm on this machine, and in PATH?",
            .exit_code = base::ExitCode::not_found};
    }
    base::Result<outside::Program> program = outside::Program::open(found->path);
    if (!program) return program.error();
    return Client{.program = *std::move(program),
                  .environment = secrets::environment_for(surroundings_outside(call.caller, planned))};
}

[[noreturn]] void become(Client client, std::vector<std::string> words, Output& output) {
    auto pointers_to = [](std::vector<std::string>& texts) {
        std::vector<char*> pointers;
        for (std::string& text : texts) pointers.push_back(text.data());
        pointers.push_back(nullptr);
        return pointers;
    };
    const int number =
        outside::execute(client.program, pointers_to(words).data(), pointers_to(client.environment).data());
    base::Error error = base::system_error("run " + client.program.path(), number);
    error.exit_code = base::ExitCode::not_found;
    ::_exit(output.fail(error));
}

base::Result<slurm::Parsed> understand(const std::vector<std::string>& words) {
    const slurm::Command& command = *slurm::find_command(words.front());
    slurm::Parse parse = slurm::parse(command, std::span(words).subspan(1), slurm::Source::users_own);
    if (auto* parsed = std::get_if<slurm::Parsed>(&parse)) return std::move(*parsed);
    const auto* error = std::get_if<slurm::UsageError>(&parse);
    return base::Error{
        .what = error ? std::string(base::trim(error->text)) : "the options are not understood",
        .exit_code = base::ExitCode::usage};
}

// Of a session that would run the command here: an agent is recognised by it.
base::Result<Planned> plan_for(const Invocation& call, const std::vector<std::string>& command) {
    Arguments arguments = call.arguments;
    arguments.words = command;
    return make_plan(call.caller, arguments, "", command);
}

// The value of --export: that of the command line, of the client's variable, or of the script.
std::string chosen_export(const Caller& caller, const slurm::Parsed& parsed, std::string_view client,
                          std::string of_script) {
    if (std::optional<std::string> given = parsed.value_of("export")) return *given;
    for (const slurm::Variable& variable : slurm::find_command(client)->variables) {
        if (variable.option != "export") continue;
        if (auto value = host::variable(caller.environment, variable.name)) return std::string(*value);
    }
    return of_script;
}

// What the plan lets into a jail, and Slurm's command does not get. `choice` is that of --export.
std::vector<std::string> withheld(const Caller& caller, const Planned& planned, const Client& client,
                                  std::string_view choice) {
    std::vector<std::string> entries;
    for (const std::string& entry : slurm::exported(caller.environment, choice)) {
        bool is_callers = std::ranges::find(caller.environment, entry) != caller.environment.end();
        bool is_given = std::ranges::find(client.environment, entry) != client.environment.end();
        if (!is_callers || is_given) continue;
        const std::vector<plan::Variable>& passed = planned.plan.environment.passed;
        auto inside = std::ranges::find(passed, entry.substr(0, entry.find('=')), &plan::Variable::name);
        if (inside != passed.end()) entries.push_back(base::format("{}={}", inside->name, inside->value));
    }
    return entries;
}

// The request for the jail on the node.
base::Result<slurm::Spec> spec_of(const Invocation& call, const Planned& planned) {
    base::Result<std::string> session = make_session_id();
    if (!session) return session.error();
    const std::string& project = planned.plan.project.str();
    struct stat status;
    if (::stat(project.c_str(), &status) != 0)
        return base::system_error("find the project " + project, errno);
    slurm::Spec spec{.project = project,
                     .project_inode = status.st_ino,
                     .options = options_of(call.arguments),
                     .variables = setting_variables(call.caller.environment),
                     .session = *session};
    for (const config::Profile& profile : planned.settings.agents.chosen)
        spec.options.push_back("--agent=" + profile.name);
    spec.options.emplace_back("--quiet");
    for (const config::Item& used : planned.settings.policy.credentials.use)
        call.output.warning(
            base::format("the job runs without the credential '{}': no value leaves this machine; use it in "
                         "a session here",
                         used.text));
    return spec;
}

// This program at its path on the nodes, where Slurm runs it outside.
base::Result<std::string> program_on_nodes(const Invocation& call, const Planned& planned) {
    const std::string& program = planned.plan.slurm.program.str();
    base::Status outside = secrets::check_outside(surroundings_outside(call.caller, planned), program);
    if (outside) return program;
    base::Error error = outside.error();
    error.advice = "Slurm would run it outside the jail: install it elsewhere, or set slurm.program";
    return error;
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

    base::Result<Planned> planned = plan_for(call, {name});
    if (!planned) return call.output.fail(planned.error());
    base::Result<Client> client = find_client(call, *planned, kBatch);
    if (!client) return call.output.fail(client.error());
    base::Result<slurm::Spec> spec = spec_of(call, *planned);
    if (!spec) return call.output.fail(spec.error());
    spec->is_batch = true;
    spec->script = *script;
    if (is_file) spec->command.assign(parsed.words.begin() + 1, parsed.words.end());
    spec->environment = withheld(call.caller, *planned, *client,
                                 chosen_export(call.caller, parsed, kBatch, value_in(*script, "export")));
    base::Result<std::string> program = program_on_nodes(call, *planned);
    if (!program) return call.output.fail(program.error());
    base::Result<std::string> file = slurm::job_file(*program, *spec, directives_in(*script, name));
    if (!file) return call.output.fail(file.error());
    base::Result<base::Fd> input = base::memory_file("job", *file);
    if (!input) return call.output.fail(input.error());
    ::dup2(input->get(), STDIN_FILENO);

    std::vector<std::string> words = words_of(parsed, {"wrap", "comment"});
    std::optional<std::string> comment = parsed.value_of("comment");
    add_comment(words, comment ? *comment : value_in(*script, "comment"), *spec);
    words.insert(words.begin(), std::string(kBatch));
    become(*std::move(client), std::move(words), call.output);
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
    base::Result<Planned> planned = plan_for(call, parsed.words);
    if (!planned) return call.output.fail(planned.error());
    base::Result<Client> client = find_client(call, *planned, kStep);
    if (!client) return call.output.fail(client.error());
    base::Result<slurm::Spec> spec = spec_of(call, *planned);
    if (!spec) return call.output.fail(spec.error());
    spec->command = parsed.words;
    spec->environment =
        withheld(call.caller, *planned, *client, chosen_export(call.caller, parsed, kStep, ""));
    base::Result<std::vector<std::string>> variables = slurm::step_variables(*spec);
    if (!variables) return call.output.fail(variables.error());
    base::Result<std::string> program = program_on_nodes(call, *planned);
    if (!program) return call.output.fail(program.error());

    std::vector<std::string> words = words_of(parsed, {"comment"});
    add_comment(words, parsed.value_of("comment").value_or(""), *spec);
    widen_export(words, *variables);
    if (!parsed.has("job-name"))
        words.push_back(base::format("--job-name={}", base::base_name(parsed.words.front())));
    words.insert(words.begin(), std::string(kStep));
    words.push_back(*program);
    words.emplace_back(slurm::kEntryRole);
    client->environment.insert(client->environment.end(), variables->begin(), variables->end());
    become(*std::move(client), std::move(words), call.output);
}

// Slurm's command itself prints its help and version, and the error for a missing command.
int inform(const Invocation& call) {
    base::Result<Planned> planned = plan_for(call, {});
    if (!planned) return call.output.fail(planned.error());
    base::Result<Client> client = find_client(call, *planned, call.arguments.words.front());
    if (!client) return call.output.fail(client.error());
    become(*std::move(client), call.arguments.words, call.output);
}

}  // namespace

bool is_own_job(const Caller& caller, const std::vector<std::string>& command) {
    bool is_inside = host::variable(caller.environment, "AGENT_SANDBOX") == "1";
    if (command.empty() || is_inside) return false;
    // A name with a slash is a file, which the jail runs like any other.
    return command.front() == kBatch || command.front() == kStep;
}

int submit_own_job(const Invocation& call) {
    const std::vector<std::string>& words = call.arguments.words;
    base::Result<Settings> settings = load_settings(call.caller, call.arguments);
    if (!settings) return call.output.fail(settings.error());
    std::vector<std::string> spank_options;
    for (const config::Item& item : settings->policy.slurm.spank_options) spank_options.push_back(item.text);
    slurm::add_spank_options(spank_options);
    base::Result<slurm::Parsed> parsed = understand(words);
    if (!parsed) return call.output.fail(parsed.error());
    bool is_step = words.front() == kStep;
    if (parsed->informs || (is_step && parsed->words.empty())) return inform(call);
    return is_step ? run_step(call, *parsed) : submit_batch(call, *parsed);
}

}  // namespace cli
