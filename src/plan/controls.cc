// SPDX-License-Identifier: MIT
// What the jail promises in this run, control by control, and what enforces it besides the view: the seccomp
// filter, Landlock and the tracer.
#include <algorithm>

#include "base/inside/jail_files.h"
#include "base/text.h"
#include "host/remedies.h"
#include "landlock/wall.h"
#include "plan/draft.h"

namespace plan {

// What the jail promises in this run, control by control, and the check that none is weaker than what was
// required.

namespace {

using policy::HomeAccess;
using policy::Level;
using policy::NetworkMode;

// The inner stage installs the filter or runs nothing. The stage tries Landlock at launch whatever the facts
// say, and reports what it got. No promise depends on Landlock alone, so a kernel without it, or a launch
// that has not probed for it, is not refused.
void add_walls(Draft& draft) {
    const host::Facts& facts = draft.inputs.facts;
    const SecondWall& wall = draft.plan.second_wall;
    std::vector<Control>& controls = draft.plan.controls;
    controls.push_back(Control{.name = "system calls",
                               .level = facts.has_seccomp ? Level::denied : Level::absent,
                               .detail = std::string(control_row("system calls").detail)});
    bool guards_files = wall.guards_files && facts.landlock_abi >= landlock::kFirstUsableAbi;
    bool keeps_signals = landlock::guarded_scopes(facts.landlock_abi) != 0;
    std::string detail = guards_files ? "writes once more by Landlock" : "writes by the mounts alone";
    if (keeps_signals) detail += "; signals and abstract sockets by Landlock";
    if (!wall.guards_files) detail += " (isolation.allow_nested_namespaces)";
    controls.push_back(Control{.name = "second wall",
                               .level = guards_files || keeps_signals ? Level::denied : Level::absent,
                               .is_asked = false,
                               .detail = std::move(detail)});
}

Level level_of(NetworkMode mode) {
    switch (mode) {
        case NetworkMode::open:
            return Level::absent;
        case NetworkMode::filtered:
        case NetworkMode::proxied:
            return Level::denied;
        case NetworkMode::isolated:
            return Level::hidden;
    }
    return Level::absent;
}

void add_network(Draft& draft) {
    const Network& network = draft.plan.network;
    bool is_open = network.reached == NetworkMode::open;
    draft.plan.controls.push_back(Control{.name = "network",
                                          .level = level_of(network.reached),
                                          .is_asked = !(is_open && network.asked == NetworkMode::open),
                                          .detail = std::string(policy::to_text(network.reached)),
                                          .origin = network.reason.origin});
    // The closed ports enforce it. The stub explains why, and is the only measure where the network is open.
    Level stub = network.closes_mail ? Level::cooperative : Level::absent;
    std::string detail = is_open ? "the ports are open" : "the ports are closed";
    detail += network.closes_mail ? ", and mailers say so" : "; mailers are left as they are";
    draft.plan.controls.push_back(Control{.name = "mail",
                                          .level = is_open ? stub : level_of(network.reached),
                                          .is_asked = network.closes_mail,
                                          .detail = std::move(detail),
                                          .origin = draft.policy().network.mail_block_origin});
}

// Only where the host has Slurm: elsewhere there is nothing to promise about it.
void add_slurm(Draft& draft) {
    const Slurm& slurm = draft.plan.slurm;
    if (slurm.commands.empty()) return;
    std::string jobs = slurm.scope == policy::SlurmScope::none
                           ? "all jobs can be seen"
                           : base::format("jobs of this {} can be seen", policy::to_text(slurm.scope));
    draft.plan.controls.push_back(Control{
        .name = "slurm",
        .level = Level::hidden,
        .detail = slurm.is_open ? jobs + "; each runs in a jail of its own" : "closed",
        .origin = slurm.is_open ? draft.policy().slurm.scope_origin : draft.policy().slurm.mode_origin});
}

void add_project_controls(Draft& draft) {
    const Plan& plan = draft.plan;
    auto has = [&](Access access) {
        return std::ranges::any_of(plan.rules, [&](const PathRule& rule) {
            return rule.access == access && rule.path.is_strictly_within(draft.project);
        });
    };
    bool is_protected = has(Access::readonly) && plan.project_is_writable;
    draft.plan.controls.push_back(Control{.name = "protected paths",
                                          .level = Level::denied,
                                          .is_asked = is_protected,
                                          .detail = is_protected
                                                        ? "hooks and settings in the project can't be changed"
                                                        : "the project has none"});
    bool is_masked = has(Access::masked);
    draft.plan.controls.push_back(
        Control{.name = "masked files",
                .level = Level::denied,
                .is_asked = is_masked,
                .detail = is_masked ? "secrets of the project can't be read" : "the project has none"});
}

// Lowers the levels to what this backend reaches, whatever the settings ask for.
void lower_to_backend(Draft& draft) {
    for (Control& control : draft.plan.controls) {
        const Reach* reach = lesser_reach(control.name, draft.plan.backend);
        if (reach == nullptr || reach->level >= control.level) continue;
        control.level = reach->level;
        control.detail = reach->detail;
    }
    const host::Facts& facts = draft.inputs.facts;
    if (!lets_signals_out(draft.backend(), facts)) return;
    Control& processes = *std::ranges::find(draft.plan.controls, "processes", &Control::name);
    processes.level = Level::absent;
    processes.detail =
        "processes outside can be signalled: this kernel's Landlock does not keep signals inside, "
        "and " +
        facts.answers_obstacle;
}

// Report every control that is absent, so that a jail is never weaker silently.
void tell_absent(Draft& draft) {
    std::vector<std::string> names;
    for (const Control& control : draft.plan.controls) {
        // network.cc reports these two together with the mode.
        bool is_told = control.name == "network" || control.name == "mail";
        if (control.is_asked && control.level == Level::absent && !is_told) names.push_back(control.name);
    }
    if (names.empty()) return;
    draft.note(NoteKind::protection, "not held by this backend: " + base::join(names, ", "));
}

struct Required {
    Level level = Level::absent;
    config::Origin origin;
};

// "temporary files=hidden"
base::Result<Level> level_asked_for(const config::Item& item, const std::string& control) {
    size_t equals = item.text.find('=');
    if (item.text.substr(0, equals) != control) return Level::absent;
    for (Level level : {Level::absent, Level::cooperative, Level::denied, Level::hidden}) {
        if (equals != std::string::npos && item.text.substr(equals + 1) == policy::to_text(level))
            return level;
    }
    return entry_error(item, base::format("'{}' names no level", item.text),
                       "write CONTROL=LEVEL with absent, cooperative, denied or hidden");
}

base::Result<Required> requirement_for(const Draft& draft, const std::string& control) {
    const auto& isolation = draft.policy().isolation;
    Required required{.origin = isolation.require_origin};
    switch (isolation.require) {
        case policy::Requirement::absent:
        case policy::Requirement::automatic:
            break;
        case policy::Requirement::cooperative:
            required.level = Level::cooperative;
            break;
        case policy::Requirement::denied:
            required.level = Level::denied;
            break;
        case policy::Requirement::hidden:
            required.level = Level::hidden;
            break;
    }
    // A user who sets network.fallback = "open" accepts an open network and gets a note.
    bool is_given_up =
        control == "network" && draft.policy().network.fallback == policy::NetworkFallback::open;
    bool is_held =
        isolation.require != policy::Requirement::absent && control_row(control).is_core && !is_given_up;
    if (is_held) required.level = std::max(required.level, Level::denied);
    for (const config::Item& item : isolation.require_each) {
        base::Result<Level> asked = level_asked_for(item, control);
        if (!asked) return asked.error();
        if (*asked > required.level) required = {*asked, item.origin};
    }
    return required;
}

// A mistyped name must be an error: otherwise the run has less protection than the user asked for.
base::Status check_names(const Draft& draft) {
    std::vector<std::string_view> names;
    for (const Control& control : draft.plan.controls) names.push_back(control.name);
    for (const config::Item& item : draft.policy().isolation.require_each) {
        std::string name = item.text.substr(0, item.text.find('='));
        // The control of Slurm exists only where Slurm does.
        if (name == "slurm" || std::ranges::find(names, name) != names.end()) continue;
        std::string near = base::nearest(name, names);
        return entry_error(
            item, base::format("there is no control '{}'", name),
            near.empty() ? "'agent-sandbox doctor' names them" : base::format("did you mean '{}'?", near));
    }
    return base::success();
}

base::Status check_requirements(const Draft& draft) {
    if (base::Status known = check_names(draft); !known) return known;
    for (const Control& control : draft.plan.controls) {
        base::Result<Required> required = requirement_for(draft, control.name);
        if (!required) return required.error();
        // A control that the policy turned off was not asked for. One that isolation.require_each names was.
        if (!control.is_asked || control.level >= required->level) continue;
        return base::Error{
            .what = base::format("the control '{}' would reach only {} ({}), and {} is required",
                                 control.name, policy::to_text(control.level), control.detail,
                                 policy::to_text(required->level)),
            .advice = "change the setting named here, or ask for less with --require",
            .where = required->origin.describe()};
    }
    return base::success();
}

}  // namespace

base::Status add_controls(Draft& draft) {
    const policy::Policy& policy = draft.policy();
    std::vector<Control>& controls = draft.plan.controls;
    auto add = [&](std::string name, Level level, bool is_asked, std::string detail,
                   config::Origin origin = {}) {
        controls.push_back(Control{std::move(name), level, is_asked, std::move(detail), std::move(origin)});
    };

    auto detail = [](std::string_view name) { return std::string(control_row(name).detail); };
    add("files", Level::hidden, true, detail("files"));
    // In a home that is shown as a whole, a mount can cover a name but can't remove it.
    add("credentials", draft.home_is_real ? Level::denied : Level::hidden, true,
        draft.home_is_real ? "names are seen, content is not" : detail("credentials"),
        policy.home.access_origin);
    add("other users", policy.isolation.filter_passwd ? Level::hidden : Level::absent,
        policy.isolation.filter_passwd, detail("other users"), policy.isolation.filter_passwd_origin);
    add("temporary files", policy.isolation.private_tmp ? Level::hidden : Level::absent,
        policy.isolation.private_tmp, detail("temporary files"), policy.isolation.private_tmp_origin);
    add("shared memory", policy.isolation.private_ipc ? Level::hidden : Level::absent,
        policy.isolation.private_ipc, detail("shared memory"), policy.isolation.private_ipc_origin);
    add("processes", Level::hidden, true, detail("processes"));
    add("privileges", Level::denied, true, detail("privileges"));
    add_walls(draft);
    add("environment", Level::hidden, true, detail("environment"), policy.env.mode_origin);
    add_network(draft);
    add_slurm(draft);
    add_project_controls(draft);
    lower_to_backend(draft);
    tell_absent(draft);
    return check_requirements(draft);
}

// The walls inside the view: the seccomp filter and Landlock. Landlock's paths come from the rules, and from
// single mounts that have no rule. They do not come from the mounts of the rules, because Landlock is there
// for a mistake in those mounts.

namespace {

bool is_below_another(const std::vector<base::Path>& places, const base::Path& path) {
    return std::ranges::any_of(places, [&](const base::Path& place) { return path.is_within(place); });
}

// Rules are sorted, a parent before its children: a grant of a directory includes everything in it.
void give(std::vector<base::Path>& places, const base::Path& path) {
    if (!is_below_another(places, path)) places.push_back(path);
}

void give_writable_rules(SecondWall& wall, const std::vector<PathRule>& rules) {
    for (const PathRule& rule : rules) {
        if (rule.access != Access::writable) continue;
        give(rule.backing == Backing::assembled ? wall.used : wall.writable, rule.path);
    }
}

// Paths that have no rule of their own, because they are part of an assembled directory.
void give_parts(SecondWall& wall, const std::vector<Mount>& mounts) {
    for (std::string_view place : base::kSharedDirectories) give(wall.writable, base::Path::known(place));
    for (const Mount& mount : mounts) {
        if (mount.kind == MountKind::private_file) give(wall.writable, mount.target);
    }
}

}  // namespace

void raise_walls(Draft& draft) {
    const auto& isolation = draft.policy().isolation;
    Plan& plan = draft.plan;
    plan.system_calls = {.allow_nested_namespaces = isolation.allow_nested_namespaces,
                         .allow_ptrace = isolation.allow_ptrace,
                         .allow_perf = isolation.allow_perf,
                         .allow_keyrings = isolation.allow_keyrings};
    plan.second_wall.guards_files = !isolation.allow_nested_namespaces;
    give_writable_rules(plan.second_wall, plan.rules);
    give_parts(plan.second_wall, plan.mounts);
    for (const base::Path& place : draft.extra_writable) give(plan.second_wall.writable, place);
}

// What is observed of the command from outside (src/tracer).

namespace {

// First release with SECCOMP_USER_NOTIF_FLAG_CONTINUE; some vendors backported it to older kernels.
constexpr int kFirstMajor = 5, kFirstMinor = 5;

// Why this jail can't be observed; empty where it can.
std::string obstacle(const Draft& draft) {
    const BackendTraits& backend = draft.backend();
    const Network& network = draft.plan.network;
    bool answers = network.egress.needs_gateway() || network.abstract_sockets == AbstractSockets::refused;
    bool has_doorman = backend.hands_connections && (!backend.has_namespaces || answers);
    if (!has_doorman) return {};
    return base::format(
        "the backend {} asks about system calls itself, and the kernel lets one process only be asked",
        backend.name());
}

std::vector<std::string> flags_of(const seccomp::Trace& trace) {
    std::vector<std::string> flags;
    if (trace.files) flags.emplace_back("--trace-files");
    if (trace.commands) flags.emplace_back("--trace-commands");
    if (trace.system_calls) flags.emplace_back("--trace-syscalls");
    return flags;
}

}  // namespace

base::Status set_trace(Draft& draft) {
    const auto& asked = draft.policy().trace;
    seccomp::Trace trace{asked.files, asked.commands, asked.system_calls};
    bool is_learning = draft.policy().network.observe && !trace.files;
    if (!trace.is_wanted() && !is_learning) return base::success();
    std::string problem = obstacle(draft);
    if (trace.is_wanted() && !problem.empty()) {
        return base::Error{.what = "the command can't be traced: " + problem,
                           .advice = base::format("leave out {}, or use another backend",
                                                  base::join(flags_of(trace), ", "))};
    }
    if (is_learning && problem.empty() &&
        !host::is_kernel_at_least(draft.inputs.facts.kernel, kFirstMajor, kFirstMinor))
        problem = base::format("the kernel {} can't notify of system calls", draft.inputs.facts.kernel);
    if (is_learning && !problem.empty()) {
        draft.note(NoteKind::information, "files that the policy closes are not observed: " + problem);
    } else if (is_learning) {
        trace.files = true;
    }
    draft.plan.trace = trace;
    draft.plan.second_wall.is_logged = trace.files;
    return base::success();
}

}  // namespace plan
