// SPDX-License-Identifier: MIT
#include "cli/slurm/jobs.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/file.h"
#include "base/inside/jail_files.h"
#include "base/parse.h"
#include "base/text.h"
#include "cli/arguments.h"
#include "cli/context.h"
#include "cli/output.h"
#include "cli/verbs.h"
#include "cli/verbs/run.h"
#include "config/data.h"
#include "config/settings.h"
#include "slurm/client/stub.h"
#include "slurm/jobs/environment.h"
#include "slurm/jobs/spec.h"
#include "slurm/options/directives.h"
#include "slurm/options/option.h"
#include "slurm/options/parse.h"
#include "slurm/scope/identity.h"

namespace cli {
namespace {

// Options that have no meaning on another machine.
constexpr std::string_view kOfThisMachine[] = {"network.publish", "ui.verbose", "ui.quiet"};

// Variables for Slurm's own commands and for this program on the node: where Slurm is, which configuration
// applies, language, time zone and proxies. None of them can steer a job.
constexpr std::string_view kPassedNames[] = {
    "LANG",        "LANGUAGE",  "TZ",       "SLURM_CONF", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "http_proxy",
    "https_proxy", "all_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY",     "ALL_PROXY",      "NO_PROXY",
};
constexpr std::string_view kPathOfSystem = "/usr/local/bin:/usr/bin:/bin";

std::string_view name_of(std::string_view entry) {
    return entry.substr(0, entry.find('='));
}

bool is_passed(std::string_view name) {
    if (name.starts_with("LC_")) return true;
    if (std::ranges::find(kPassedNames, name) != std::end(kPassedNames)) return true;
    return std::ranges::any_of(config::data_list("system/trees_from_environment"),
                               [&](const config::DataRow& row) { return row.entry == name; });
}

// PATH without entries in the project or the home directory, because the jail may write there and these
// programs run outside of it.
std::string search_path(const Caller& caller, const plan::Plan& plan, const base::Path& home) {
    std::vector<std::string> kept;
    std::optional<std::string_view> path = host::variable(caller.environment, "PATH");
    for (std::string_view part : base::split(path.value_or(""), ':')) {
        base::Result<base::Path> place = base::Path::parse(part);
        if (!place || place->is_within(plan.project) || place->is_within(home)) continue;
        kept.emplace_back(part);
    }
    for (std::string_view part : base::split(kPathOfSystem, ':')) {
        if (std::ranges::find(kept, part) == kept.end()) kept.emplace_back(part);
    }
    return base::join(kept, ":");
}

std::vector<std::string> environment_of(const Planned& planned, const Caller& caller) {
    const host::Identity& identity = planned.facts.identity;
    std::vector<std::string> environment = {"HOME=" + identity.home.str(), "USER=" + identity.user,
                                            "LOGNAME=" + identity.user,
                                            "PATH=" + search_path(caller, planned.plan, identity.home)};
    for (const std::string& entry : caller.environment) {
        if (entry.find('=') != std::string::npos && is_passed(name_of(entry))) environment.push_back(entry);
    }
    return environment;
}

void add_option(std::vector<std::string>& options, const std::string& key, const config::Value& value) {
    const config::Setting& setting = *config::find_setting(key);
    auto add = [&](std::string_view flag, const std::string& text) {
        options.push_back(base::format("{}={}", flag, text));
    };
    if (key.starts_with("limits.")) {
        add("--limit", key.substr(std::string_view("limits.").size()) + "=" + value.text);
    } else if (key == "env.set") {
        for (const config::Item& item : value.items) add("--env", item.text);
    } else if (setting.flag.empty()) {
        return;
    } else if (config::is_list(setting.type)) {
        for (const config::Item& item : value.items) add(setting.flag, item.text);
    } else {
        add(setting.flag, value.text);
    }
}

}  // namespace

std::vector<std::string> options_of(const Arguments& arguments) {
    std::vector<std::string> options;
    if (arguments.preset) options.push_back("--preset=" + *arguments.preset);
    for (const auto& [key, value] : arguments.settings) {
        if (std::ranges::find(kOfThisMachine, key) == std::end(kOfThisMachine))
            add_option(options, key, value);
    }
    return options;
}

std::vector<std::string> setting_variables(const std::vector<std::string>& environment) {
    std::vector<std::string> variables;
    for (const std::string& entry : environment) {
        if (!entry.starts_with(config::kVariablePrefix)) continue;
        bool is_setting = std::ranges::any_of(config::settings(), [&](const config::Setting& setting) {
            std::string name = config::variable_of(setting);
            return !name.empty() && name_of(entry) == name;
        });
        if (is_setting) variables.push_back(entry);
    }
    return variables;
}

session::Jobs jobs_of(const Planned& planned, const Caller& caller, const Arguments& arguments,
                      const std::string& session) {
    session::Jobs jobs{.session = caller.job_session.empty() ? session : caller.job_session,
                       .options = options_of(arguments),
                       .variables = setting_variables(caller.environment),
                       .environment = environment_of(planned, caller)};
    // Send our own decisions: the node cannot derive them from the job's command. A later option wins.
    const plan::Plan& plan = planned.plan;
    bool is_sessions = plan.slurm.network.empty() || plan.slurm.network == "session";
    jobs.options.push_back(
        "--network=" + (is_sessions ? std::string(policy::to_text(plan.network.asked)) : plan.slurm.network));
    jobs.options.emplace_back("--agent=none");
    for (const config::Profile& profile : planned.settings.agents.chosen)
        jobs.options.push_back("--agent=" + profile.name);
    // To the agent a job looks like any other; the record has the jail's messages.
    jobs.options.emplace_back("--quiet");
    return jobs;
}

// Theory of operation. This is not a restriction: the caller can run sbatch directly. So options, directives
// and variables keep Slurm's own meaning, also where Slurm opens files outside. Only the command is replaced
// by this program, which builds the jail on the node and runs the command in it.

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

// The comment of the script's directives, which the command line overrides.
std::string comment_in(std::string_view script) {
    auto read = slurm::directives_of(script, "");
    const auto* directives = std::get_if<slurm::Directives>(&read);
    if (directives == nullptr) return {};
    slurm::Parse parse =
        slurm::parse(*slurm::find_command(kBatch), directives->words, slurm::Source::users_own);
    const auto* parsed = std::get_if<slurm::Parsed>(&parse);
    return parsed == nullptr ? "" : parsed->value_of("comment").value_or("");
}

// The tag makes it a job of the project, which sessions of the project see. Without room for it the comment
// stays as it is.
void add_comment(std::vector<std::string>& words, const std::string& comment, const slurm::Spec& spec) {
    base::Result<std::string> tagged =
        slurm::append_tag(comment, slurm::make_tag(spec.session, base::Path::known(spec.project)));
    if (tagged || !comment.empty()) words.push_back("--comment=" + (tagged ? *tagged : comment));
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
    for (const config::Profile& profile : settings->agents.chosen)
        spec.options.push_back("--agent=" + profile.name);
    spec.options.emplace_back("--quiet");
    for (const config::Item& used : settings->policy.credentials.use)
        call.output.warning(
            base::format("the job runs without the credential '{}': no value leaves this machine; use it in "
                         "a session here",
                         used.text));
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

    std::vector<std::string> words = words_of(parsed, {"wrap", "comment"});
    std::optional<std::string> comment = parsed.value_of("comment");
    add_comment(words, comment ? *comment : comment_in(*script), *spec);
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

    std::vector<std::string> words = words_of(parsed, {"comment"});
    add_comment(words, parsed.value_of("comment").value_or(""), *spec);
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
    base::Result<Settings> settings = load_settings(call.caller, call.arguments);
    if (!settings) return call.output.fail(settings.error());
    std::vector<std::string> spank_options;
    for (const config::Item& item : settings->policy.slurm.spank_options) spank_options.push_back(item.text);
    slurm::add_spank_options(spank_options);
    base::Result<slurm::Parsed> parsed = understand(words);
    if (!parsed) return call.output.fail(parsed.error());
    bool is_step = base::base_name(words.front()) == kStep;
    // Slurm's command itself prints its help and version, and the error for a missing command.
    if (parsed->informs || (is_step && parsed->words.empty())) become(words, call.output);
    return is_step ? run_step(call, *parsed) : submit_batch(call, *parsed);
}

// `slurm-log`: inside a jail, lists the Slurm requests of its session, and why its jobs did not start. The
// log is outside, where the jail can't write it.

int slurm_log_verb(const Invocation& call) {
    const std::vector<std::string>& jobs = call.arguments.words;
    if (jobs.size() > 1 || (jobs.size() == 1 && !slurm::is_job_number(jobs.front()))) {
        return call.output.fail({.what = "slurm-log takes the number of one job, or nothing",
                                 .advice = usage_of("slurm-log"),
                                 .exit_code = base::ExitCode::usage});
    }
    if (!base::file_exists(base::own_path(base::kOwnProgram))) {
        return call.output.fail({.what = "this is for the inside of a jail",
                                 .advice = "outside, read ~/.local/state/agent-sandbox/slurm/log",
                                 .exit_code = base::ExitCode::usage});
    }
    std::string name = "log";
    std::string job = jobs.empty() ? "" : jobs.front();
    char* words[] = {name.data(), jobs.empty() ? nullptr : job.data(), nullptr};
    return slurm::client::run_stub(name, jobs.empty() ? 1 : 2, words, base::own_path(base::kSlurmSocket));
}

}  // namespace cli
