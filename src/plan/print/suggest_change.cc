// SPDX-License-Identifier: MIT
#include "plan/print/suggest_change.h"

#include <algorithm>

#include "base/path.h"
#include "base/text.h"
#include "config/data.h"

namespace plan {
namespace {

bool is_listed(std::string_view list, const base::Path& path) {
    return std::ranges::any_of(config::data_list(list), [&](const config::DataRow& row) {
        return base::matches_path(row.entry, path.str());
    });
}

std::string socket_flag(const Question& question) {
    bool is_dangerous =
        is_listed("sockets/dangerous", question.asked) || is_listed("sockets/dangerous", question.physical);
    return is_dangerous ? "--dangerous-socket " : "--socket ";
}

bool is_in(const base::Path& path, std::string_view place) {
    return path.is_within(base::Path::known(place));
}

// Whether showing it would show the home directory as a whole.
bool holds_home(const Plan& plan, const base::Path& path) {
    auto home = std::ranges::find(plan.environment.passed, "HOME", &Variable::name);
    if (path.is_root() || home == plan.environment.passed.end()) return path.is_root();
    base::Result<base::Path> directory = base::Path::parse(home->value);
    return directory && directory->is_within(path);
}

// A flag can name only a path that exists. Inside a jail we can't tell whether it exists outside.
std::string once_made(const Question& question, const std::string& flag) {
    bool is_missing = !question.node && !question.plan.is_seen_from_inside;
    return is_missing ? "make it outside first, then " + flag : flag;
}

// "leave out --hide", "remove it from ~/.config/agent-sandbox/config.toml:7": for a rule that a person wrote.
std::string undo(const config::Origin& origin) {
    switch (origin.layer) {
        case config::Layer::builtin:
        case config::Layer::admin:
            return {};
        case config::Layer::user:
        case config::Layer::project:
            return "remove it from " + origin.describe();
        case config::Layer::profile:
            return "use --agent none, or a profile of your own instead of " + origin.describe();
        case config::Layer::preset:
            return "use another preset than " + origin.describe();
        case config::Layer::environment:
            return "unset " + origin.describe();
        case config::Layer::command_line:
            return "leave out " + origin.describe();
    }
    return {};
}

}  // namespace

std::string flag_for(const Question& question) {
    const base::Path& path = question.physical;
    std::string word = base::shell_word(question.asked.str());
    if (question.node && question.node->kind == host::Kind::socket) return socket_flag(question) + word;
    if (is_in(path, "/dev")) {
        bool may_be_let_in = path.depth() > 1 && !is_listed("devices/never", path);
        return may_be_let_in ? "--device " + word : "";
    }
    bool is_built_by_the_jail = is_in(path, "/proc") || (is_in(path, "/etc") && question.to_write);
    if (is_built_by_the_jail || holds_home(question.plan, path)) return {};
    return once_made(question, (question.to_write ? "--rw " : "--ro ") + word);
}

std::string flag_to_keep(const Question& question) {
    bool is_of_host = !is_in(question.physical, "/dev") && !is_in(question.physical, "/run");
    std::string flag = question.to_write && is_of_host ? flag_for(question) : "";
    return flag.empty() ? flag : flag + ", to keep them";
}

// A flag that names the path of the rule itself only ties with it, and the stricter one wins ties. Such a
// rule can only be removed where it was written, or not at all.
std::string change_for(const Question& question, const PathRule& rule) {
    const Plan& plan = question.plan;
    const config::Origin& origin = rule.reason.origin;
    if (origin.layer == config::Layer::admin) return {};
    if (rule.path == plan.project && !plan.project_is_writable) return undo(origin);
    bool is_in_project = rule.path.is_strictly_within(plan.project);
    bool is_protection = is_in_project && rule.access == Access::readonly &&
                         origin.layer == config::Layer::builtin && !question.node;
    if (question.physical != rule.path && !is_protection) return flag_for(question);
    if (origin.layer != config::Layer::builtin) return undo(origin);
    if (!is_in_project) return {};

    std::string entry = base::format("[\"{}\"]", rule.path.relative_to(plan.project));
    if (rule.access == Access::masked) return "project.unmask = " + entry;
    if (rule.access == Access::readonly) return "project.unprotect = " + entry;
    return {};
}

}  // namespace plan
