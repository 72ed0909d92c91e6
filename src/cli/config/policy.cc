// SPDX-License-Identifier: MIT
// `policy` and `profiles`: print the rules in force, and the profiles of agents.
#include "audit/show.h"
#include "base/backend.h"
#include "base/encoding/json.h"
#include "base/file.h"
#include "base/inside/jail_files.h"
#include "base/table.h"
#include "base/text.h"
#include "cli/arguments.h"
#include "cli/context.h"
#include "cli/output.h"
#include "cli/sessions/records.h"
#include "cli/sessions/sessions.h"
#include "cli/verbs.h"
#include "config/layer.h"
#include "config/profile.h"
#include "plan/print/print.h"
#include "plan/print/summary.h"
#include "plan/system/limits.h"

namespace cli {

// `policy`: prints the rules in force. Inside a jail it reads the jail's own summary file; outside it plans a
// command that would start here. `policy draft` turns records into a file for review.

namespace {

using base::Json;
using base::printable;
using base::Style;
using base::Table;

base::Result<plan::Plan> plan_in_force(const Invocation& call) {
    std::string summary = base::own_path(base::kSummary);
    if (base::file_exists(summary)) {
        base::Result<std::string> text = base::read_file(summary);
        if (!text) return text.error();
        return plan::decode_summary(*text);
    }
    base::Result<Planned> planned = make_plan(call.caller, call.arguments, "", {});
    if (!planned) return planned.error();
    return std::move(planned->plan);
}

struct Switch {
    std::string_view setting;
    bool seccomp::Switches::*field;
};
constexpr Switch kSwitches[] = {
    {"isolation.allow_nested_namespaces", &seccomp::Switches::allow_nested_namespaces},
    {"isolation.allow_ptrace", &seccomp::Switches::allow_ptrace},
    {"isolation.allow_perf", &seccomp::Switches::allow_perf},
    {"isolation.allow_keyrings", &seccomp::Switches::allow_keyrings},
};

// The program's own lists hide nearly everything, so of the hidden paths show only those from other layers.
bool is_worth_a_line(const plan::PathRule& rule) {
    return rule.access != plan::Access::hidden || rule.reason.origin.layer != config::Layer::builtin;
}

void add_row(Table& table, std::string_view name, std::string_view text, const config::Origin& origin) {
    table.add({{printable(name)}, {printable(text)}, {printable(origin.describe()), Style::dim}});
}

std::string slurm_text(const plan::Slurm& slurm) {
    if (!slurm.is_open) return "closed";
    return base::format("open; jobs of the {} are seen", policy::to_text(slurm.scope));
}

std::string policy_text(const plan::Plan& plan, bool is_coloured) {
    auto heading = [&](std::string_view text) { return base::styled(text, Style::bold, is_coloured) + "\n"; };
    std::string text = heading(base::format("network {}", policy::to_text(plan.network.reached)));
    Table network;
    add_row(network, "network.mode", policy::to_text(plan.network.asked), plan.network.reason.origin);
    for (const plan::NetworkEntry& entry : plan::network_entries(plan.network))
        add_row(network, entry.setting, entry.text, entry.origin);
    text += network.text(2, is_coloured);

    Table files;
    size_t hidden = 0;
    for (const plan::PathRule& rule : plan.rules) {
        if (is_worth_a_line(rule)) {
            add_row(files, plan::to_text(rule.access), rule.path.str(), rule.reason.origin);
        } else {
            ++hidden;
        }
    }
    for (const plan::Grant& grant : plan.grants)
        add_row(files, plan::to_text(grant.kind), grant.path.str(), grant.reason.origin);
    text += heading("files") + files.text(2, is_coloured);
    if (hidden > 0) text += base::format("  and {} places that are hidden by default\n", hidden);

    text +=
        base::format("{}  {} variables pass, {} are held back; why env NAME tells of one\n",
                     heading("environment"), plan.environment.passed.size(), plan.environment.removed.size());

    Table switches;
    for (const Switch& row : kSwitches)
        switches.add({{std::string(row.setting)}, {plan.system_calls.*row.field ? "true" : "false"}});
    text += heading("system calls") + switches.text(2, is_coloured);

    Table limits;
    for (const plan::NamedLimit& named : plan::named_limits()) {
        const policy::Limit& limit = plan.limits.*named.field;
        if (limit.value > 0) add_row(limits, named.key, plan::limit_text(named, plan.limits), limit.origin);
    }
    if (!limits.is_empty()) text += heading("limits") + limits.text(2, is_coloured);
    return base::format("{}{}  {}\n", text, heading("Slurm"), slurm_text(plan.slurm));
}

Json with_reason(Json object, const plan::Reason& reason) {
    return object.set("why", reason.why).set("origin", reason.origin.describe());
}

Json policy_json(const plan::Plan& plan) {
    Json json = Json::object();
    json.set("backend", base::to_text(plan.backend));
    json.set("project",
             Json::object().set("path", plan.project.str()).set("writable", plan.project_is_writable));
    Json entries = Json::array();
    for (const plan::NetworkEntry& entry : plan::network_entries(plan.network)) {
        entries.push(Json::object()
                         .set("setting", entry.setting)
                         .set("entry", entry.text)
                         .set("origin", entry.origin.describe()));
    }
    json.set("network", Json::object()
                            .set("asked", policy::to_text(plan.network.asked))
                            .set("reached", policy::to_text(plan.network.reached))
                            .set("origin", plan.network.reason.origin.describe())
                            .set("entries", std::move(entries)));
    Json files = Json::array();
    for (const plan::PathRule& rule : plan.rules) {
        files.push(
            with_reason(Json::object().set("path", rule.path.str()).set("access", plan::to_text(rule.access)),
                        rule.reason));
    }
    for (const plan::Grant& grant : plan.grants) {
        files.push(
            with_reason(Json::object().set("path", grant.path.str()).set("grant", plan::to_text(grant.kind)),
                        grant.reason));
    }
    json.set("files", std::move(files));
    Json passed = Json::array();
    for (const plan::Variable& variable : plan.environment.passed) passed.push(variable.name);
    Json removed = Json::array();
    for (const plan::RemovedVariable& variable : plan.environment.removed)
        removed.push(with_reason(Json::object().set("name", variable.name), variable.reason));
    json.set("environment",
             Json::object().set("passed", std::move(passed)).set("removed", std::move(removed)));
    Json switches = Json::object();
    for (const Switch& row : kSwitches) switches.set(std::string(row.setting), plan.system_calls.*row.field);
    json.set("system_calls", std::move(switches));
    Json limits = Json::object();
    for (const plan::NamedLimit& named : plan::named_limits()) {
        const policy::Limit& limit = plan.limits.*named.field;
        if (limit.value == 0) continue;
        limits.set(std::string(named.key), Json::object()
                                               .set("value", static_cast<size_t>(limit.value))
                                               .set("origin", limit.origin.describe()));
    }
    json.set("limits", std::move(limits));
    return json.set(
        "slurm",
        Json::object().set("open", plan.slurm.is_open).set("scope", policy::to_text(plan.slurm.scope)));
}

int show(const Invocation& call) {
    base::Result<plan::Plan> plan = plan_in_force(call);
    if (!plan) return call.output.fail(plan.error());
    return call.output.result(call.arguments.wants_json ? policy_json(*plan).dump() + "\n"
                                                        : policy_text(*plan, call.output.colours_results()));
}

int draft(const Invocation& call) {
    base::Result<Workspace> workspace = find_workspace(call.caller, call.arguments);
    if (!workspace) return call.output.fail(workspace.error());
    std::vector<std::string> sessions(call.arguments.words.begin() + 1, call.arguments.words.end());
    if (sessions.empty()) sessions.emplace_back("last");
    audit::Gathering gathering(user_directories_of(*workspace));
    for (const std::string& session : sessions) {
        base::Result<audit::RecordFile> record = record_of(call, *workspace, session);
        if (!record) return call.output.fail(record.error());
        if (base::Status added = gathering.add_record(record->path); !added)
            return call.output.fail(added.error());
    }
    std::vector<std::string> ids = gathering.sessions();
    audit::UserDirectories directories = gathering.directories();
    base::Result<audit::NotNeeded> marks =
        audit::NotNeeded::read(workspace->files.state_directory + "/not-needed");
    if (!marks) return call.output.fail(marks.error());
    audit::Digest digest = std::move(gathering).finish(*marks);
    std::vector<audit::DraftEntry> entries = audit::draft_of(digest, directories);
    if (call.arguments.wants_json) return call.output.result(audit::to_json(entries).dump() + "\n");
    // Users copy this file, so make sure that it parses.
    std::string text = audit::to_toml(entries, ids);
    config::ParsedFile parsed = config::parse_layer(config::Layer::user, "draft", text);
    if (!parsed.problems.empty()) return call.output.fail(parsed.problems.front());
    return call.output.result(text);
}

}  // namespace

int policy_verb(const Invocation& call) {
    const std::vector<std::string>& words = call.arguments.words;
    if (words.empty() || (words.size() == 1 && words[0] == "show")) return show(call);
    if (words[0] == "draft") return draft(call);
    return wrong_words(call, "policy shows what is in force, or drafts");
}

// `profiles` and `profiles show NAME`.

namespace {

using base::Json;

Json names_of(const std::vector<config::Item>& items) {
    Json array = Json::array();
    for (const config::Item& item : items) array.push(item.text);
    return array;
}

Json json_of(const config::Profile& profile) {
    return Json::object()
        .set("name", profile.name)
        .set("title", profile.title)
        .set("file", profile.layer.file)
        .set("commands", names_of(profile.commands))
        .set("packages", names_of(profile.packages))
        .set("state", names_of(profile.state))
        .set("kept", names_of(profile.kept))
        .set("tokens", names_of(profile.tokens))
        .set("protect", names_of(profile.protect));
}

std::string joined(const std::vector<config::Item>& items) {
    std::string text;
    for (const config::Item& item : items) text += (text.empty() ? "" : " ") + base::printable(item.text);
    return text;
}

int list(const Invocation& call, const std::vector<config::ProfileText>& found) {
    Json all = Json::array();
    base::Table table;
    for (const config::ProfileText& text : found) {
        base::Result<config::Profile> profile = config::parse_profile(text);
        if (!profile) return call.output.fail(profile.error());
        all.push(json_of(*profile));
        table.add({{profile->name, base::Style::bold},
                   {base::printable(profile->title)},
                   {joined(profile->state) + (profile->kept.empty() ? "" : " " + joined(profile->kept)),
                    base::Style::dim},
                   {base::printable(text.file), base::Style::dim}});
    }
    if (call.arguments.wants_json) return call.output.result(all.dump() + "\n");
    return call.output.result(table.text(0, call.output.colours_results()));
}

}  // namespace

int profiles_verb(const Invocation& call) {
    base::Result<Workspace> workspace = find_workspace(call.caller, call.arguments);
    if (!workspace) return call.output.fail(workspace.error());
    base::Result<std::vector<config::ProfileText>> found = config::find_profiles(workspace->files);
    if (!found) return call.output.fail(found.error());
    const std::vector<std::string>& words = call.arguments.words;
    if (words.empty()) return list(call, *found);
    if (words.size() != 2 || words[0] != "show") {
        return call.output.fail({.what = "profiles takes nothing, or show and a name",
                                 .advice = usage_of("profiles"),
                                 .exit_code = base::ExitCode::usage});
    }
    base::Result<config::Profile> profile = config::profile_named(*found, words[1], {});
    if (!profile) {
        base::Error error = profile.error();
        error.where = "profiles show";
        error.exit_code = base::ExitCode::usage;
        return call.output.fail(error);
    }
    if (call.arguments.wants_json) return call.output.result(json_of(*profile).dump() + "\n");
    for (const config::ProfileText& text : *found) {
        if (text.name == words[1]) return call.output.result(base::format("# {}\n{}", text.file, text.text));
    }
    return 0;
}

}  // namespace cli
