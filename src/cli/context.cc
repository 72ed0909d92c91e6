// SPDX-License-Identifier: MIT
#include "cli/context.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <functional>
#include <iterator>

#include "base/backend.h"
#include "base/file.h"
#include "base/no_links.h"
#include "base/text.h"
#include "cli/broker.h"
#include "cli/config/project_root.h"
#include "cli/layers/view.h"
#include "cli/logins.h"
#include "cli/modules.h"
#include "credentials/advice.h"
#include "doorman/doorman.h"
#include "host/private_files.h"
#include "host/trial.h"
#include "plan/backend.h"
#include "plan/make_plan.h"
#include "session/directories.h"
#include "session/search/search_progress.h"

namespace cli {
namespace {

// Words of agents.use that are not names of profiles.
constexpr std::string_view kAutomatic = "auto", kNone = "none";

}  // namespace

Caller probe_environment() {
    Caller caller;
    for (char** variable = environ; variable && *variable; ++variable)
        caller.environment.emplace_back(*variable);
    return caller;
}

base::Status probe_working_directory(Caller& caller) {
    base::Result<base::Path> directory = host::find_working_directory();
    if (!directory) return directory.error();
    caller.working_directory = *std::move(directory);
    return base::success();
}

base::Result<base::Path> path_from(std::string_view text, const base::Path& home,
                                   const base::Path& working_directory) {
    if (text == "~") return home;
    if (text.starts_with("~/")) return home / text.substr(2);
    if (text.starts_with('/')) return base::Path::parse(text);
    return working_directory / text;
}

std::string shortened(const base::Path& path, const base::Path& home) {
    if (home.is_root() || !path.is_within(home)) return path.str();
    return path == home ? "~" : base::format("~/{}", path.relative_to(home));
}

namespace {

// The current directory as the caller's shell names it (PWD), if that is the same directory. Scripts use the
// links on the way there, such as /scratch, and the jail shows them too.
base::Path named_directory(const Caller& caller) {
    base::Result<base::Path> named =
        base::Path::parse(host::variable(caller.environment, "PWD").value_or(""));
    if (!named) return caller.working_directory;
    base::Result<host::Tree::Resolved> physical = caller.disk.resolve(*named);
    bool is_same = physical && physical->exists && physical->path == caller.working_directory;
    return is_same ? *named : caller.working_directory;
}

}  // namespace

base::Result<Workspace> find_workspace(const Caller& caller, const Arguments& arguments) {
    base::Result<host::Identity> identity =
        host::probe_identity(caller.disk, ::getuid(), ::getgid(), caller.environment);
    if (!identity) return identity.error();
    Workspace workspace{.identity = *std::move(identity)};
    workspace.files = config::places_for(workspace.identity.home, caller.environment);
    // Threat: `~` in the administrator's files would be wherever HOME points
    // (tests/admin/ceiling_attacks.bats).
    if (!caller.has_planted_home && base::file_exists(workspace.files.admin_directory)) {
        std::optional<base::Path> home = host::account_home(caller.disk, workspace.identity.uid);
        if (home && *home != workspace.identity.home) {
            workspace.identity.home = *home;
            workspace.files = config::places_for(workspace.identity.home, caller.environment);
        }
    }

    workspace.project = named_directory(caller);
    workspace.project_origin = "the current directory";
    if (arguments.project) {
        base::Result<base::Path> asked =
            path_from(*arguments.project, workspace.identity.home, caller.working_directory);
        if (!asked) return asked.error();
        workspace.project = *std::move(asked);
        workspace.project_origin = "--project";
    }

    base::Result<host::Tree::Resolved> resolved = caller.disk.resolve(workspace.project);
    if (!resolved) return resolved.error();
    workspace.physical_project = resolved->path;
    // Threat: a process that can rename names beside the project replaces it by a link to another directory
    // now, which would become the project (tests/jail/project.bats). The kernel's path has no links.
    if (!arguments.project && resolved->path != caller.working_directory) {
        return base::Error{
            .what = base::format("the current directory {} was replaced by something else just now",
                                 caller.working_directory.str()),
            .advice = "try again, and look for what changes it",
            .where = workspace.project_origin};
    }
    std::optional<host::Node> node = caller.disk.look(resolved->path);
    if (!node || node->kind != host::Kind::directory) {
        base::Error error{.what = base::format("the project {}{}", workspace.project.str(),
                                               node ? " is not a directory" : " does not exist"),
                          .advice = "name an existing directory with --project",
                          .where = workspace.project_origin};
        if (node) return error;
        if (base::shut_directory(resolved->path))
            error.what = "cannot reach the project " + workspace.project.str();
        return base::with_shut_directory(std::move(error), resolved->path);
    }
    if (!arguments.project) choose_root(workspace, caller, arguments);
    return workspace;
}

base::Result<policy::Layers> read_layers(const Workspace& workspace, const Caller& caller,
                                         const Arguments& arguments) {
    policy::Layers layers;
    auto admin = config::read_admin_files(workspace.files);
    if (!admin) return admin.error();
    layers.admin = *std::move(admin);

    auto user = config::read_user_files(workspace.files, workspace.physical_project);
    if (!user) return user.error();
    layers.user = *std::move(user);

    auto project = config::read_project_file(workspace.files, workspace.physical_project);
    if (!project) return project.error();
    layers.project = *std::move(project);

    if (arguments.preset) {
        auto preset = config::read_preset(workspace.files, *arguments.preset);
        if (!preset) return preset.error();
        layers.preset.push_back(*std::move(preset));
    }

    auto variables = config::read_variables(caller.environment);
    if (!variables) return variables.error();
    layers.variables = *std::move(variables);
    layers.command_line = arguments.settings;
    return layers;
}

policy::PathMeaning path_meaning(const host::Tree& disk, const base::Path& home) {
    auto canonical = [&disk](const base::Path& path) {
        base::Result<host::Tree::Resolved> resolved = disk.resolve(path);
        return resolved ? resolved->path : path;
    };
    return {.home = home, .canonical = canonical};
}

namespace {

// The setting decides about layers, so it is looked up before they are merged.
std::vector<config::Item> asked_profiles(const policy::Layers& layers) {
    std::vector<config::Item> asked = {{std::string(kAutomatic), {}}};
    auto take = [&](const config::Values& values) {
        auto value = values.find("agents.use");
        if (value == values.end()) return;
        for (const config::Item& item : value->second.items) {
            if (item.text == kNone) asked.clear();
            asked.push_back(item);
        }
    };
    for (const config::LayerFile& file : layers.admin) take(file.values);
    for (const config::LayerFile& file : layers.user) take(file.values);
    for (const config::ProjectFile& file : layers.project) take(file.layer.values);
    for (const config::LayerFile& file : layers.preset) take(file.values);
    take(layers.variables);
    take(layers.command_line);
    return asked;
}

// Its sandbox would make every tool call fail, and the agent may exit with success all the same.
base::Status check_own_sandbox(const config::Profile& profile, const std::vector<std::string>& command) {
    std::optional<std::string> option = config::own_sandbox_option(profile, command);
    if (!option) return base::success();
    return base::Error{
        .what = base::format("{} switches on the sandbox of {}, which can't start in the jail", *option,
                             profile.title),
        .advice =
            "leave the option out: the jail is the sandbox; --read-only before the command makes the "
            "project read-only",
        .where = command.front()};
}

base::Result<Agents> find_agents(const Workspace& workspace, const policy::Layers& layers,
                                 const std::vector<std::string>& command) {
    Agents agents;
    base::Result<std::vector<config::ProfileText>> found = config::find_profiles(workspace.files);
    if (!found) return found.error();
    auto add = [&](config::Profile profile) {
        if (std::ranges::find(agents.chosen, profile.name, &config::Profile::name) == agents.chosen.end())
            agents.chosen.push_back(std::move(profile));
    };
    for (const config::Item& item : asked_profiles(layers)) {
        if (item.text == kNone) {
            agents.is_refused = true;
        } else if (item.text == kAutomatic) {
            base::Result<std::optional<config::Profile>> profile = config::profile_for(*found, command);
            if (!profile) return profile.error();
            if (!*profile) continue;
            if (base::Status nests = check_own_sandbox(**profile, command); !nests) return nests.error();
            add(**std::move(profile));
        } else {
            base::Result<config::Profile> profile = config::profile_named(*found, item.text, item.origin);
            if (!profile) return profile.error();
            add(*std::move(profile));
        }
    }
    return agents;
}

// Only a home directory that is shown as it is shows the state of others.
base::Status find_others(const Workspace& workspace, Agents& agents) {
    base::Result<std::vector<config::ProfileText>> found = config::find_profiles(workspace.files);
    if (!found) return found.error();
    for (const config::ProfileText& text : *found) {
        if (std::ranges::find(agents.chosen, text.name, &config::Profile::name) != agents.chosen.end())
            continue;
        base::Result<config::Profile> profile = config::parse_profile(text);
        if (!profile) return profile.error();
        agents.others.push_back(*std::move(profile));
    }
    return base::success();
}

// A name that lets nothing through is a typing error, or a variable that was not exported. What modules set
// is only known later.
void warn_of_unset(const Caller& caller, const Arguments& arguments, Settings& settings) {
    auto asked = arguments.settings.find("env.allow");
    if (asked == arguments.settings.end() || !settings.policy.modules.load.empty()) return;
    for (const config::Item& item : asked->second.items) {
        if (host::variable(caller.environment, item.text)) continue;
        settings.effective.warnings.push_back(
            base::format("{}: {} is not set here; write {}=VALUE, or set it", item.origin.describe(),
                         item.text, item.text));
    }
}

}  // namespace

base::Result<Settings> load_settings(const Caller& caller, const Arguments& arguments) {
    base::Result<Workspace> workspace = find_workspace(caller, arguments);
    if (!workspace) return workspace.error();
    base::Result<policy::Layers> layers = read_layers(*workspace, caller, arguments);
    if (!layers) return layers.error();
    base::Result<Agents> agents = find_agents(*workspace, *layers, arguments.words);
    if (!agents) return agents.error();
    for (const config::Profile& profile : agents->chosen) layers->profile.push_back(profile.layer);
    base::Result<policy::Effective> effective =
        policy::merge(*layers, path_meaning(caller.disk, workspace->identity.home));
    if (!effective) return effective.error();
    policy::Policy policy = policy::policy_from(*effective);
    bool shows_home =
        policy.home.access == policy::HomeAccess::read || policy.home.access == policy::HomeAccess::write;
    if (shows_home) {
        if (base::Status others = find_others(*workspace, *agents); !others) return others.error();
    }
    if (policy.credentials.is_login_outside) {
        base::Result<std::vector<std::string>> kept =
            keep_logins_outside(agents->chosen, caller.environment, policy);
        if (!kept) return kept.error();
        std::ranges::move(*kept, std::back_inserter(effective->warnings));
    }
    // No value gets to another node.
    if (caller.job && !policy.credentials.use.empty()) {
        effective->warnings.emplace_back(
            "a Slurm job gets no credentials: credentials.use has no effect here");
        policy.credentials.use.clear();
    }
    base::Result<credentials::Resolved> resolved = credentials::resolve(*layers, policy);
    if (!resolved) return resolved.error();
    base::Result<std::vector<std::string>> settled =
        credentials::settle_variables(*resolved, caller.environment, policy);
    if (!settled) return settled.error();
    std::ranges::move(*settled, std::back_inserter(effective->warnings));
    Settings settings{*std::move(workspace), *std::move(agents), *std::move(layers),
                      *std::move(effective), std::move(policy),  *std::move(resolved)};
    warn_of_unset(caller, arguments, settings);
    if (!settings.workspace.root_line.empty())
        settings.effective.warnings.push_back(settings.workspace.root_line);
    return settings;
}

void probe_backends(const Caller& caller, const policy::Policy& policy, host::Facts& facts) {
    auto take_failures = [&] {
        for (const host::BackendTrial& trial : host::backend_trials()) {
            auto failure = std::ranges::find(caller.failures, trial.backend, &BackendFailure::backend);
            if (failure != caller.failures.end()) trial.take(failure->reason, facts);
        }
    };
    take_failures();
    const std::optional<base::Backend> asked = policy.isolation.backend;
    auto is_taken = [&](base::Backend backend) {
        return asked.value_or(backend) == backend && !plan::obstacle_of(plan::traits_of(backend), facts);
    };
    // A bubblewrap that was chosen by hand comes first.
    bool is_pinned = policy.isolation.bwrap && !asked;
    if (!is_pinned && is_taken(base::Backend::native)) return;
    host::probe_bwrap(caller.disk, policy.isolation.bwrap, facts);
    if (is_taken(base::Backend::bwrap)) return;
    host::probe_others(caller.disk, policy.isolation.firejail, facts);
    take_failures();
    // Not at every launch: it runs firejail.
    const bool is_tried = !asked && is_taken(base::Backend::firejail) && host::is_filtered();
    std::optional<std::string> failure = is_tried ? host::try_firejail(facts) : std::nullopt;
    if (failure) host::take_firejail_failure(*failure, facts);
    facts.can_answer_calls = doorman::is_possible();
    if (!facts.can_answer_calls)
        facts.answers_obstacle =
            "the memory of the jail's processes can't be read from outside, or an outer "
            "filter has taken their notifications: the doorman of an outer jail, or the tracer of one that "
            "was "
            "started with --trace-…";
}

namespace {

// The last one lies in the state directory, which is hidden in any case.
std::vector<base::Path> runtime_places_of(const Caller& caller, const std::string& state) {
    std::optional<std::string_view> told = host::variable(caller.environment, "XDG_RUNTIME_DIR");
    std::vector<base::Path> places;
    for (const std::string& place : session::runtime_places(told.value_or(""), state)) {
        base::Result<base::Path> path = base::Path::parse(place);
        if (path) places.push_back(*std::move(path));
    }
    places.pop_back();
    return places;
}

// How long a launch searches the project, from the first question on.
std::function<bool()> search_bound() {
    using Clock = std::chrono::steady_clock;
    static constexpr std::chrono::milliseconds kLongestSearch{150};
    return [until = std::optional<Clock::time_point>()]() mutable {
        if (!until) until = Clock::now() + kLongestSearch;
        return Clock::now() >= *until;
    };
}

const base::Path kEtc = base::Path::known("/etc");

// Gives the private files of /etc when the plan needs them.
using PrivateEtc = std::function<base::Result<std::vector<base::Path>>()>;

base::Result<Planned> plan_beside(const PrivateEtc& private_etc, const Caller& caller, Settings settings,
                                  const std::string& session, const std::vector<std::string>& command) {
    if (base::Status possible = credentials::check_network(settings.credentials, settings.policy); !possible)
        return possible.error();
    // First: its certificates are made while the plan is made.
    Brokerage brokerage;
    bool is_brokered = !settings.credentials.is_empty();
    if (is_brokered) {
        bool is_launch = !session.empty() && !caller.is_planning_again;
        base::Result<Brokerage> made = make_brokerage(settings, is_launch);
        if (!made) return made.error();
        brokerage = *std::move(made);
    }
    const std::string& state = settings.workspace.files.state_directory;
    caller.disk.recall_names(state + "/known-names");
    base::Result<host::Facts> facts =
        host::probe(caller.disk, caller.environment, settings.workspace.identity);
    if (!facts) return facts.error();
    probe_backends(caller, settings.policy, *facts);

    base::Result<modules::Loaded> modules = load_modules(settings, caller);
    if (!modules) return modules.error();

    plan::Request request{.project = settings.workspace.project,
                          .project_origin = settings.workspace.project_origin,
                          .working_directory = caller.working_directory,
                          .command = command,
                          .environment = caller.environment,
                          .session = session,
                          .config_directory = base::Path::known(settings.workspace.files.user_directory),
                          .state_directory = base::Path::known(settings.workspace.files.state_directory),
                          .runtime_places = runtime_places_of(caller, state),
                          .job = caller.job};
    std::optional<layers::Layer> layer;
    if (settings.policy.cow.enabled) {
        base::Result<layers::Layer> chosen = choose_layer(settings, session);
        if (!chosen) return chosen.error();
        describe_layer(*chosen, settings.policy, request);
        layer = *std::move(chosen);
    }
    if (!settings.policy.modules.load.empty()) use_modules(*modules, request);
    base::Result<std::vector<base::Path>> hidden = private_etc();
    if (!hidden) return hidden.error();
    facts->private_etc = *std::move(hidden);
    const std::vector<std::string> known =
        session::read_known_places(state, settings.workspace.physical_project);
    const std::vector<credentials::DefinedSource> defined = credentials::defined_sources(settings.layers);
    auto plan_for = [&](const plan::Brokered* brokered) -> base::Result<plan::Plan> {
        base::Result<plan::Plan> made = plan::make_plan(
            {request, settings.policy, *facts, caller.disk, settings.agents.chosen, settings.agents.others,
             known, search_bound(), !settings.agents.is_refused, brokered, defined});
        // First: what the plan misses may be there and not have been seen.
        if (base::Status seen = caller.disk.check(settings.workspace.physical_project); !seen)
            return seen.error();
        return made;
    };
    if (brokerage.needs_values) {
        plan::Brokered without_root = brokerage.brokered;
        without_root.root = nullptr;
        base::Result<plan::Plan> draft = plan_for(&without_root);
        if (!draft) return draft.error();
        if (base::Status added = add_claims(caller, settings, *draft, brokerage.brokered); !added)
            return added.error();
    }
    base::Result<plan::Plan> plan = plan_for(is_brokered ? &brokerage.brokered : nullptr);
    if (!plan) return plan.error();
    caller.disk.keep_names();
    tell_modules(*modules, *plan);
    if (layer) layer->is_clone = plan->is_cloned;
    return Planned{std::move(settings), *std::move(facts), *std::move(plan), std::move(layer),
                   std::move(brokerage.certificates)};
}

}  // namespace

base::Result<Planned> make_plan(const Caller& caller, const Arguments& arguments, const std::string& session,
                                const std::vector<std::string>& command) {
    base::Result<Settings> settings = load_settings(caller, arguments);
    if (!settings) return settings.error();
    return plan_with(caller, *std::move(settings), session, command);
}

base::Result<Planned> plan_with(const Caller& caller, Settings settings, const std::string& session,
                                const std::vector<std::string>& command) {
    return plan_beside([] { return host::find_private_files(kEtc); }, caller, std::move(settings), session,
                       command);
}

// A plan may still need other namespaces. Then the child is of no use (EarlyChild::become_jail).
static void make_namespaces(session::EarlyChild& child, const policy::Policy& policy) {
    child.make_namespaces(
        {.network = policy.network.mode != policy::NetworkMode::open, .ipc = policy.isolation.private_ipc});
}

// Goes on where the child stopped.
static base::Result<std::vector<base::Path>> finish_search(session::EarlyChild* child) {
    std::optional<host::PrivateFilesWalk> begun = child != nullptr ? child->take_search() : std::nullopt;
    return begun ? begun->finish() : host::find_private_files(kEtc);
}

// Threat: a file of /etc that was made private since the last launch would be shown to the caller's groups
// (tests/admin/private_files.bats). So every launch looks at all of /etc, while the plan is made and the jail
// is built.
base::Result<EarlyPlan> make_early_plan(const Caller& caller, const Arguments& arguments,
                                        const std::string& session, const std::vector<std::string>& command) {
    // The jail of a job is made in namespaces of the job, which no child can enter later.
    std::unique_ptr<session::EarlyChild> child;
    if (caller.job_namespaces.empty()) child = session::EarlyChild::start(kEtc);
    base::Result<Settings> settings = load_settings(caller, arguments);
    if (!settings) return settings.error();
    if (child) make_namespaces(*child, settings->policy);
    const std::string state = settings->workspace.files.state_directory;
    std::optional<std::vector<base::Path>> recalled = host::recall_private_files(state);
    auto private_etc = [&]() -> base::Result<std::vector<base::Path>> {
        if (recalled) return *recalled;
        base::Result<std::vector<base::Path>> found = finish_search(child.get());
        if (found) host::keep_private_files(state, *found);
        return found;
    };
    base::Result<Planned> planned = plan_beside(private_etc, caller, *std::move(settings), session, command);
    if (!planned) return planned.error();
    return EarlyPlan{*std::move(planned), recalled.has_value(), std::move(child)};
}

base::Result<bool> is_still_true(const EarlyPlan& plan) {
    if (!plan.is_guess) return true;
    base::Result<std::vector<base::Path>> found = finish_search(plan.child.get());
    if (!found) return found.error();
    if (*found == plan.planned.facts.private_etc) return true;
    host::keep_private_files(plan.planned.settings.workspace.files.state_directory, *found);
    return false;
}

}  // namespace cli
