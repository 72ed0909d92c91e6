// SPDX-License-Identifier: MIT
// The first output that a new user sees: plain words, less than twenty lines, and commands that work in this
// directory.
#include "cli/verbs/overview.h"

#include <algorithm>
#include <filesystem>
#include <optional>

#include "base/backend.h"
#include "base/inside/jail_files.h"
#include "base/table.h"
#include "base/text.h"
#include "cli/output.h"
#include "cli/report/run_report.h"
#include "config/data.h"
#include "config/profile.h"
#include "plan/print/explain.h"

namespace cli {
namespace {

using base::printable;
using base::Style;

std::string project_text(const plan::Plan& plan, const base::Path& home) {
    const char* access = plan.is_layered            ? " (written to a layer)"
                         : plan.project_is_writable ? " (writable)"
                                                    : " (read-only)";
    return shortened(plan.project, home) + access;
}

// Show the requested mode too if it differs: it is the first suspect when a host can't be reached.
std::string network_text(const plan::Plan& plan) {
    std::string text(policy::to_text(plan.network.reached));
    if (plan.network.asked == plan.network.reached) return text;
    return base::format("{} (asked: {})", text, policy::to_text(plan.network.asked));
}

std::string held_back_text(const plan::Plan& plan) {
    size_t count = plan.environment.removed.size();
    return base::format("{}{} held back", count, count == 1 ? " variable" : " variables");
}

// The first masked files of the project: " (.env, service/.env, …)".
std::string masked_names(const plan::Plan& plan) {
    constexpr size_t kShown = 3, kLongest = 40;
    std::vector<std::string> names;
    for (const plan::PathRule& rule : plan.rules) {
        bool is_ours = rule.access == plan::Access::masked && rule.path.is_strictly_within(plan.project);
        if (!is_ours || names.size() == kShown) continue;
        std::string name = printable(rule.path.relative_to(plan.project));
        if (name.size() > kLongest) name = "…" + name.substr(name.size() - kLongest);
        names.push_back(std::move(name));
    }
    if (names.empty()) return "";
    return base::format(" ({}{})", base::join(names, ", "), plan.search.masked > names.size() ? ", …" : "");
}

// Empty if no file is masked and the search is complete.
std::string masked_text(const plan::Plan& plan) {
    size_t count = plan.search.masked;
    std::string text =
        base::format("{}{} masked{}", count, count == 1 ? " file" : " files", masked_names(plan));
    if (!plan.search.is_complete) return base::format(" · {} so far, still searching the project", text);
    return count == 0 ? "" : " · " + text;
}

// Fits small terminals, also when the output goes to a file or a pipe.
size_t width_of(const Output& output) {
    constexpr size_t kWidth = 80;
    return std::min(output.width_of_results(), kWidth);
}

// ---- What would happen

std::string_view meaning_of(policy::NetworkMode mode) {
    switch (mode) {
        case policy::NetworkMode::open:
            return "all that this machine reaches";
        case policy::NetworkMode::filtered:
            return "any host by its name; mail, pastes, private networks closed";
        case policy::NetworkMode::proxied:
            return "only the hosts that are allowed";
        case policy::NetworkMode::isolated:
            return "nothing but its own loopback";
    }
    return {};
}

std::string_view meaning_of(policy::HomeAccess access) {
    switch (access) {
        case policy::HomeAccess::write:
            return "read and written, but for credentials";
        case policy::HomeAccess::read:
            return "read, but for credentials";
        case policy::HomeAccess::tmpwrite:
            return "a few settings and tools; what is written there is discarded";
        case policy::HomeAccess::restricted:
            return "a few settings and tools; only listed places can be written";
    }
    return {};
}

// Names that exist here and that the jail hides: credentials, and files of the project that read as empty.
std::vector<std::string> hidden_here(const Planned& planned, const host::Tree& tree) {
    const plan::Plan& plan = planned.plan;
    const base::Path& home = planned.facts.identity.home;
    std::vector<std::string> names;
    for (const plan::PathRule& rule : plan.rules) {
        if (rule.access == plan::Access::masked && rule.path.is_within(plan.project))
            names.emplace_back(rule.path.relative_to(plan.project));
    }
    for (const config::DataRow& row : config::data_list("home/credentials")) {
        if (row.entry.find('*') != std::string_view::npos) continue;
        base::Path path = home / base::trim(row.entry);
        if (tree.look(path) && !plan::explain_path(plan, tree, path, false).is_allowed)
            names.push_back(shortened(path, home));
    }
    return names;
}

std::string hidden_text(const Planned& planned, const host::Tree& tree) {
    constexpr size_t kShown = 4;
    std::vector<std::string> names = hidden_here(planned, tree);
    size_t more = names.size() > kShown ? names.size() - kShown : 0;
    names.resize(names.size() - more);
    std::string text = base::join(names, ", ");
    if (more > 0) text += base::format(" and {} more", more);
    if (planned.plan.environment.removed.empty()) return text;
    return text + (text.empty() ? "" : "; ") + held_back_text(planned.plan);
}

std::string what_happens_here(const Invocation& call, const Planned& planned) {
    const plan::Plan& plan = planned.plan;
    base::Table table;
    table.add({{"project"}, {printable(project_text(plan, planned.facts.identity.home))}});
    table.add({{"home"}, {std::string(meaning_of(planned.settings.policy.home.access))}});
    if (std::string hidden = hidden_text(planned, call.caller.disk); !hidden.empty())
        table.add({{"hidden"}, {printable(hidden)}});
    table.add({{"network"}, {base::format("{}: {}", network_text(plan), meaning_of(plan.network.reached))}});
    table.add({{"backend"}, {std::string(base::to_text(plan.backend))}});
    bool is_coloured = call.output.colours_results();
    return base::format("{}\n{}", base::styled("A command started here would get", Style::bold, is_coloured),
                        table.text(2, is_coloured, width_of(call.output)));
}

std::string what_stands_in_the_way(const Invocation& call, const base::Error& error) {
    std::string text =
        base::styled("A command would not be started here", Style::bold, call.output.colours_results()) +
        "\n";
    for (const std::string& line : base::wrapped(printable(error.line()), width_of(call.output) - 2))
        text += base::format("  {}\n", line);
    return text;
}

// ---- What to try

struct Try {
    std::string command;  // after the program's name
    std::string meaning;
};

Lookup lookup_of(const Caller& caller) {
    return {host::variable(caller.environment, "PATH").value_or(""), caller.working_directory};
}

// The command that starts this program: the name in PATH may be another version or may not exist.
std::string own_name(const Caller& caller) {
    std::string name(base::kOwnProgram);
    std::error_code trouble;
    std::filesystem::path executed = std::filesystem::read_symlink("/proc/self/exe", trouble);
    if (trouble) return name;
    std::optional<base::Path> found = find_program(caller.disk, lookup_of(caller), name);
    base::Result<host::Tree::Resolved> target =
        found ? caller.disk.resolve(*found) : base::Result<host::Tree::Resolved>(base::Error{});
    return target && target->path.str() == executed.string() ? name : base::shell_word(executed.string());
}

// The first agent in PATH with the command that starts it, including the flags that show it in the jail.
std::optional<Try> installed_agent(const Invocation& call, const Planned& planned) {
    const Caller& caller = call.caller;
    base::Result<std::vector<config::ProfileText>> found =
        config::find_profiles(planned.settings.workspace.files);
    if (!found) return std::nullopt;
    for (const config::ProfileText& text : *found) {
        base::Result<config::Profile> profile = config::parse_profile(text);
        if (!profile) continue;
        for (const config::Item& command : profile->commands) {
            std::optional<base::Path> program = find_program(caller.disk, lookup_of(caller), command.text);
            if (!program) continue;
            Arguments arguments = call.arguments;
            arguments.words = {command.text};
            base::Result<Planned> its_own = make_plan(caller, arguments, "", arguments.words);
            if (!its_own) continue;
            std::string flags;
            if (!is_visible(its_own->plan, caller.disk, *program)) {
                flags = flags_that_show(its_own->plan, caller.disk, *program);
                if (flags.empty()) continue;
                flags = flags.substr(1) + " ";
            }
            return Try{flags + command.text, base::format("start {} here", profile->title)};
        }
    }
    return std::nullopt;
}

std::string shell_of(const Caller& caller) {
    return find_program(caller.disk, lookup_of(caller), "bash") ? "bash" : "sh";
}

std::vector<Try> tries_here(const Invocation& call, const Planned& planned) {
    std::vector<Try> tries;
    std::optional<Try> agent = installed_agent(call, planned);
    if (agent) tries.push_back(*std::move(agent));
    tries.push_back({shell_of(call.caller), "look around in the jail; exit leaves it"});
    tries.push_back({"plan", "everything that it shows and holds back"});
    if (tries.size() < 3) tries.push_back({"doctor", "what this machine can enforce"});
    return tries;
}

// Chooses by the obstacle: the directory, a configuration file, or the machine.
Try way_out(const Caller& caller, const base::Error& error) {
    if (error.advice.find("--project") != std::string::npos)
        return {"--project DIRECTORY " + shell_of(caller), "a jail for that directory"};
    if (error.where.find(".toml") != std::string::npos)
        return {"config check", "every mistake in the files that count here"};
    return {"doctor --admin-note", "a letter to the administrator about it"};
}

std::vector<Try> tries_elsewhere(const Caller& caller, const base::Error& error) {
    return {way_out(caller, error),
            {"doctor", "what this machine can enforce"},
            {"help trouble", "what to do about it"}};
}

std::string things_to_try(const Invocation& call, const std::vector<Try>& tries) {
    bool is_coloured = call.output.colours_results();
    std::string name = own_name(call.caller);
    base::Table table;
    for (const Try& row : tries)
        table.add({{printable(name + " " + row.command)}, {printable(row.meaning), Style::dim}});
    return base::format("\n{}\n{}\nMore: {} help\n", base::styled("Try", Style::bold, is_coloured),
                        table.text(2, is_coloured, width_of(call.output)), printable(name));
}

std::string_view variable_of(const Caller& caller, std::string_view name) {
    return host::variable(caller.environment, name).value_or("");
}

// Inside a jail the user asks about this jail, not about a second one inside it.
std::string from_inside(const Invocation& call) {
    const Caller& caller = call.caller;
    base::Table table;
    table.add({{"project"}, {printable(variable_of(caller, "AGENT_SANDBOX_PROJECT"))}});
    table.add({{"network"}, {printable(variable_of(caller, "AGENT_SANDBOX_NETWORK"))}});
    table.add({{"backend"}, {printable(variable_of(caller, "AGENT_SANDBOX_BACKEND"))}});
    bool is_coloured = call.output.colours_results();
    return base::format(
        "{}\n{}{}", base::styled("This is inside a jail", Style::bold, is_coloured),
        table.text(2, is_coloured, width_of(call.output)),
        things_to_try(call,
                      {{"policy", "the rules of this jail"},
                       {"why path ~/.ssh", "what decides about a path, a variable or a host"},
                       {"request path P --because TEXT", "ask the user for a path, a host or a variable"},
                       {"notify TEXT", "ring the user's terminal"}}));
}

}  // namespace

std::string start_line(const plan::Plan& plan, const base::Path& home) {
    std::string agent = plan.agent.empty() ? "" : plan.agent + " · ";
    return base::format("{}{} · {} · network {} · {}{}", agent, base::to_text(plan.backend),
                        project_text(plan, home), network_text(plan), held_back_text(plan),
                        masked_text(plan));
}

int print_overview(const Invocation& call) {
    std::string text = "agent-sandbox runs a command in a jail that the Linux kernel enforces.\n\n";
    if (host::probe_nesting(call.caller.disk, call.caller.environment) == "agent-sandbox")
        return call.output.result(text + from_inside(call));
    base::Result<Planned> planned = make_plan(call.caller, call.arguments, "", {});
    if (planned) {
        text += what_happens_here(call, *planned) + things_to_try(call, tries_here(call, *planned));
    } else {
        text += what_stands_in_the_way(call, planned.error()) +
                things_to_try(call, tries_elsewhere(call.caller, planned.error()));
    }
    return call.output.result(text);
}

}  // namespace cli
