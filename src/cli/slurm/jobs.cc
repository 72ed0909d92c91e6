// SPDX-License-Identifier: MIT
#include "cli/slurm/jobs.h"

#include <algorithm>

#include "base/file.h"
#include "base/inside/jail_files.h"
#include "base/text.h"
#include "cli/arguments.h"
#include "cli/context.h"
#include "cli/output.h"
#include "cli/verbs.h"
#include "config/data.h"
#include "config/settings.h"
#include "slurm/client/stub.h"
#include "slurm/jobs/spec.h"

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
