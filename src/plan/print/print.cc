// SPDX-License-Identifier: MIT
// The plan as JSON for programs; print_text.cc prints it for people.
#include "plan/print/print.h"

#include <algorithm>

#include "base/backend.h"
#include "base/parse.h"
#include "base/text.h"
#include "landlock/wall.h"
#include "plan/system/limits.h"

namespace plan {
namespace {

using base::Json;

std::string_view to_text(Backing backing) {
    switch (backing) {
        case Backing::host:
            return "host";
        case Backing::ephemeral:
            return "ephemeral";
        case Backing::assembled:
            return "assembled";
    }
    return "";
}

std::string_view to_text(NoteKind kind) {
    switch (kind) {
        case NoteKind::information:
            return "information";
        case NoteKind::protection:
            return "protection";
    }
    return "";
}

Json& set_reason(Json& object, const Reason& reason) {
    return object.set("why", reason.why).set("origin", reason.origin.describe());
}

Json json_of(const PathRule& rule) {
    Json object = Json::object();
    object.set("path", rule.path.str())
        .set("access", to_text(rule.access))
        .set("backing", to_text(rule.backing));
    return set_reason(object, rule.reason);
}

Json json_of(const Grant& grant) {
    Json object = Json::object();
    object.set("kind", to_text(grant.kind)).set("path", grant.path.str());
    return set_reason(object, grant.reason);
}

Json json_of(const Mount& mount) {
    Json object = Json::object();
    object.set("kind", to_text(mount.kind)).set("target", mount.target.str());
    // Print only the size of a generated file: its content is not part of the plan's shape, and may be long.
    bool holds_content = mount.kind == MountKind::file || mount.kind == MountKind::private_file;
    if (holds_content) {
        object.set("bytes", mount.source.size());
    } else if (!mount.source.empty()) {
        object.set("source", mount.source);
    }
    if (mount.is_pinned) object.set("pinned", true);
    return set_reason(object, mount.reason);
}

Json json_of(const UnheldName& name) {
    Json object = Json::object();
    object.set("path", name.path.str());
    object.set("missing", name.first_missing.has_value());
    return set_reason(object, name.reason);
}

Json json_of(const Placeholder& placeholder) {
    Json object = Json::object();
    object.set("path", placeholder.path.str());
    return set_reason(object, placeholder.reason);
}

Json json_of(const NewDirectory& directory) {
    Json object = Json::object();
    object.set("path", directory.path.str());
    return set_reason(object, directory.reason);
}

// Names and reasons only: a value may be a secret.
Json json_of(const Variable& variable) {
    Json object = Json::object();
    object.set("name", variable.name);
    return set_reason(object, variable.reason);
}

Json json_of(const RemovedVariable& variable) {
    Json object = Json::object();
    object.set("name", variable.name);
    return set_reason(object, variable.reason);
}

Json json_of(const Control& control) {
    return Json::object()
        .set("name", control.name)
        .set("level", policy::to_text(control.level))
        .set("asked", control.is_asked)
        .set("detail", control.detail)
        .set("origin", control.origin.describe());
}

Json json_of(const Note& note) {
    return Json::object().set("kind", to_text(note.kind)).set("text", note.text);
}

template <typename T>
Json json_list(const std::vector<T>& items) {
    Json array = Json::array();
    for (const T& item : items) array.push(json_of(item));
    return array;
}

Json json_of(const Network& network) {
    Json object = Json::object();
    object.set("asked", policy::to_text(network.asked)).set("reached", policy::to_text(network.reached));
    set_reason(object, network.reason);
    Json entries = Json::array();
    for (const NetworkEntry& entry : network_entries(network)) {
        entries.push(Json::object()
                         .set("setting", entry.setting)
                         .set("entry", entry.text)
                         .set("origin", entry.origin.describe()));
    }
    return object.set("entries", std::move(entries))
        .set("closes_mail", network.closes_mail)
        .set("abstract_sockets", to_text(network.abstract_sockets));
}

Json json_of(const Processes& processes) {
    return Json::object()
        .set("private_ipc", processes.private_ipc)
        .set("drops_capabilities", processes.drops_capabilities)
        .set("no_new_privileges", processes.no_new_privileges);
}

Json json_of(const seccomp::Switches& switches) {
    return Json::object()
        .set("allow_nested_namespaces", switches.allow_nested_namespaces)
        .set("allow_ptrace", switches.allow_ptrace)
        .set("allow_perf", switches.allow_perf)
        .set("allow_keyrings", switches.allow_keyrings);
}

Json json_of(const seccomp::Trace& trace) {
    return Json::object()
        .set("files", trace.files)
        .set("commands", trace.commands)
        .set("system_calls", trace.system_calls);
}

Json paths_of(const std::vector<base::Path>& paths) {
    Json array = Json::array();
    for (const base::Path& path : paths) array.push(path.str());
    return array;
}

Json json_of(const SecondWall& wall) {
    return Json::object()
        .set("wanted", wall.is_wanted)
        .set("guards_files", wall.guards_files)
        .set("writable", paths_of(wall.writable))
        .set("used", paths_of(wall.used));
}

// Only limits that are set.
Json json_of(const Limits& limits) {
    Json object = Json::object();
    for (const NamedLimit& named : named_limits()) {
        const policy::Limit& limit = limits.*named.field;
        if (limit.value == 0) continue;
        object.set(std::string(named.key.substr(named.key.find('.') + 1)),
                   Json::object()
                       .set("value", static_cast<int64_t>(limit.value))
                       .set("origin", limit.origin.describe()));
    }
    return object;
}

}  // namespace

std::vector<NetworkEntry> network_entries(const Network& network) {
    const network::EngineSettings& rules = network.egress.rules;
    std::vector<NetworkEntry> entries;
    auto add = [&](std::string_view setting, const std::vector<config::Item>& items) {
        for (const config::Item& item : items) entries.push_back({setting, item.text, item.origin});
    };
    // An open network applies none of them, and an isolated one has nothing to block.
    bool is_filtering =
        rules.mode == policy::NetworkMode::filtered || rules.mode == policy::NetworkMode::proxied;
    if (is_filtering) {
        add("network.block", rules.block);
        add("network.allow", rules.allow);
        add("network.private", rules.private_networks);
        add("network.udp", rules.udp);
        add("network.host_services", rules.host_services);
    }
    for (const network::Published& port : network.egress.published) {
        entries.push_back(
            {"network.publish",
             base::format("127.0.0.1:{} leads to the jail's port {}", port.host_port, port.jail_port),
             port.origin});
    }
    // Without the user name and password.
    if (const auto& proxy = network.egress.upstream) {
        entries.push_back(
            {"network.upstream_proxy", base::with_port(proxy->host, proxy->port), proxy->origin});
    }
    return entries;
}

base::Json to_json(const Plan& plan) {
    Json command = Json::array();
    for (const std::string& word : plan.command) command.push(word);
    return Json::object()
        .set("backend", base::to_text(plan.backend))
        .set("project",
             Json::object().set("path", plan.project.str()).set("writable", plan.project_is_writable))
        .set("command", std::move(command))
        .set("working_directory", plan.working_directory.str())
        .set("files", Json::object()
                          .set("rules", json_list(plan.rules))
                          .set("mounts", json_list(plan.mounts))
                          .set("grants", json_list(plan.grants))
                          .set("placeholders", json_list(plan.placeholders))
                          .set("unheld_names", json_list(plan.unheld_names))
                          .set("new_directories", json_list(plan.new_directories)))
        .set("environment", Json::object()
                                .set("passed", json_list(plan.environment.passed))
                                .set("removed", json_list(plan.environment.removed)))
        .set("network", json_of(plan.network))
        .set("processes", json_of(plan.processes))
        .set("system_calls", json_of(plan.system_calls))
        .set("trace", json_of(plan.trace))
        .set("second_wall", json_of(plan.second_wall))
        .set("limits", json_of(plan.limits))
        .set("controls", json_list(plan.controls))
        .set("notes", json_list(plan.notes));
}

namespace {

using policy::Level;

Reached without_landlock(std::string_view control, const host::Facts& facts) {
    return {control, Level::absent, "there is no Landlock on kernel " + facts.kernel};
}

bool has_gateway(const BackendTraits& backend, const host::Facts& facts) {
    return std::ranges::count(offered_modes(backend, facts), policy::NetworkMode::filtered) > 0;
}

Reached reached(const ControlRow& row, const BackendTraits& backend, const host::Facts& facts) {
    if (row.name == "processes" && lets_signals_out(backend, facts)) {
        return {row.name, Level::absent,
                "processes outside can be signalled: this kernel's Landlock does not keep signals inside"};
    }
    if (row.name == "network" && !has_gateway(backend, facts)) {
        return {row.name, level_with(row.name, backend.id),
                "open or isolated; filtered and proxied can't be had here"};
    }
    if (const Reach* lesser = lesser_reach(row.name, backend.id)) {
        return {row.name, lesser->level, std::string(lesser->detail)};
    }
    bool lacks_wall = row.name == "second wall" && facts.landlock_abi < landlock::kFirstUsableAbi;
    if (lacks_wall) return without_landlock(row.name, facts);
    return {row.name, row.best, std::string(row.detail)};
}

}  // namespace

std::vector<Outlook> outlooks(const host::Facts& facts) {
    std::vector<Outlook> all;
    for (const BackendTraits& backend : backends()) {
        Outlook outlook{.backend = &backend, .obstacle = obstacle_of(backend, facts)};
        if (!outlook.obstacle) outlook.modes = offered_modes(backend, facts);
        for (const ControlRow& row : control_rows()) outlook.controls.push_back(reached(row, backend, facts));
        all.push_back(std::move(outlook));
    }
    return all;
}

}  // namespace plan
