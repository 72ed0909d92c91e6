// SPDX-License-Identifier: MIT
// The rule with the longest path decides. Where its path is a directory of the jail's own (a tmpfs, or
// assembled entry by entry), a file of the host is seen only through a mount, so there the mounts decide.
#include "plan/print/explain.h"

#include "base/inside/jail_files.h"
#include "base/text.h"
#include "plan/backend.h"

#include <algorithm>

#include "base/table.h"
#include "plan/print/suggest_change.h"
#include "plan/project/project_search.h"
#include "plan/rules.h"

namespace plan {
namespace {

constexpr int kMostLinks = 16;

bool is_common_device(const Mount& dev, const base::Path& path) {
    std::string_view below = path.relative_to(dev.target);
    return below.empty() || base::is_common_device(below.substr(0, below.find('/')));
}

// The deepest mount that contains `path`; of equal ones the last, which covers the others.
const Mount* covering_mount(const Plan& plan, const base::Path& path) {
    const Mount* best = nullptr;
    for (const Mount& mount : plan.mounts) {
        if (mount.kind == MountKind::seal || mount.kind == MountKind::held_link ||
            !path.is_within(mount.target))
            continue;
        if (!best || mount.target.str().size() >= best->target.str().size()) best = &mount;
    }
    return best;
}

// The same after following the symbolic links that the plan makes.
const Mount* mount_behind(const Plan& plan, base::Path path) {
    for (int followed = 0; followed < kMostLinks; ++followed) {
        const Mount* mount = covering_mount(plan, path);
        if (!mount || mount->kind != MountKind::symlink) return mount;
        std::string rest(path.relative_to(mount->target));
        bool is_absolute = mount->source.starts_with('/');
        path = (is_absolute ? base::Path() : mount->target.parent()) / mount->source / rest;
    }
    return nullptr;
}

// The access that a mount gives to a path on it; hidden where the mount shows nothing of the host.
Access access_through(const Mount& mount, const base::Path& path) {
    switch (mount.kind) {
        case MountKind::bind_readonly:
            return Access::readonly;
        case MountKind::bind_writable:
        case MountKind::overlay:
        case MountKind::bind_device:
        case MountKind::proc:
        case MountKind::queues:
        case MountKind::helper_socket:
            return Access::writable;
        case MountKind::dev:
            return is_common_device(mount, path) ? Access::writable : Access::hidden;
        case MountKind::empty_file:
            return Access::masked;
        case MountKind::file:
            return Access::readonly;
        case MountKind::private_file:
            return Access::writable;
        case MountKind::tmpfs:
        case MountKind::directory:
            return path == mount.target ? Access::readonly : Access::hidden;
        case MountKind::symlink:
        case MountKind::held_link:
        case MountKind::seal:
            return Access::hidden;
    }
    return Access::hidden;
}

// Whether the rule alone decides what is seen at `path`.
bool is_decided_by_rule(const PathRule* rule, const base::Path& path) {
    if (!rule) return false;
    return rule->access < Access::readonly || rule->backing == Backing::host || rule->path == path;
}

bool shows_link(const Plan& plan, const base::Path& link) {
    bool is_made = std::ranges::any_of(plan.mounts, [&](const Mount& mount) {
        return mount.kind == MountKind::symlink && mount.target == link;
    });
    if (is_made) return true;
    const PathRule* rule = deciding_rule(plan.rules, link);
    if (is_decided_by_rule(rule, link)) return rule->access >= Access::readonly;
    const Mount* mount = mount_behind(plan, link);
    return mount && access_through(*mount, link) >= Access::readonly;
}

std::string_view verdict_of(Access access) {
    switch (access) {
        case Access::hidden:
            return "hidden";
        case Access::masked:
            return "reads as empty";
        case Access::readonly:
            return "readable";
        case Access::writable:
            return "writable";
    }
    return "";
}

// A directory above a visible path exists as an otherwise empty directory.
std::string why_without_rule(const Plan& plan, const base::Path& path) {
    auto leads_to = std::ranges::find_if(plan.rules, [&](const PathRule& rule) {
        return rule.access >= Access::readonly && rule.path.is_strictly_within(path);
    });
    if (leads_to == plan.rules.end()) return "no rule shows it";
    return "no rule shows it; it is empty but for the way to what is shown, such as " + leads_to->path.str();
}

void judge_by_access(Explanation& explanation, const Question& question, Access access, Reason reason) {
    explanation.verdict = verdict_of(access);
    explanation.is_allowed = access >= (question.to_write ? Access::writable : Access::readonly);
    explanation.reason = std::move(reason);
}

void judge_made_file(Explanation& explanation, const Question& question, const PathRule* rule,
                     const Mount& made) {
    bool takes_writes = made.kind == MountKind::private_file || (rule && rule->access == Access::writable);
    explanation.verdict = takes_writes ? "private copy" : "made for the jail";
    explanation.is_allowed = takes_writes || !question.to_write;
    explanation.reason = made.reason;
    if (takes_writes) explanation.reason.why += "; writes are discarded when the jail ends";
}

// The directory is the jail's own: writes there work and are discarded, and the host's content is not seen.
void judge_own_place(Explanation& explanation, const Question& question, const PathRule& rule) {
    bool takes_writes = rule.access == Access::writable && rule.backing == Backing::ephemeral;
    explanation.verdict = takes_writes ? "private" : "hidden";
    explanation.is_allowed = takes_writes && (question.to_write || !question.node);
    explanation.reason = rule.reason;
    if (takes_writes) explanation.reason.why += "; writes are discarded when the jail ends";
    if (question.node) explanation.reason.why += "; what the host keeps there is not shown";
    explanation.change = explanation.is_allowed ? flag_to_keep(question) : flag_for(question);
}

void judge_by_mount(Explanation& explanation, const Question& question, const PathRule* rule) {
    const Mount* mount = mount_behind(question.plan, question.physical);
    Access access = mount ? access_through(*mount, question.physical) : Access::hidden;
    if (access != Access::hidden) {
        judge_by_access(explanation, question, access, mount->reason);
        if (!explanation.is_allowed) explanation.change = flag_for(question);
    } else if (rule) {
        judge_own_place(explanation, question, *rule);
    } else {
        std::string why = why_without_rule(question.plan, question.physical);
        judge_by_access(explanation, question, Access::hidden, Reason{std::move(why), {}});
        explanation.change = flag_for(question);
    }
}

// Without a mount namespace the grants decide, and no rule below a grant can take it back.
void judge_by_grants(Explanation& explanation, const Question& question, const PathRule* rule) {
    const Grant* widest = nullptr;
    for (const Grant& grant : question.plan.grants) {
        bool covers = question.physical.is_within(grant.path);
        if (covers && (widest == nullptr || grant.kind > widest->kind)) widest = &grant;
    }
    if (widest != nullptr) {
        Access access = widest->kind == GrantKind::read ? Access::readonly : Access::writable;
        judge_by_access(explanation, question, access, widest->reason);
        if (!explanation.is_allowed) explanation.change = flag_for(question);
        return;
    }
    explanation.verdict = "closed";
    explanation.reason = rule ? rule->reason : Reason{why_without_rule(question.plan, question.physical), {}};
    if (rule && rule->access >= Access::readonly)
        explanation.reason.why += "; this backend can't show it beside what is closed around it";
    explanation.change =
        rule && rule->access < Access::readonly ? change_for(question, *rule) : flag_for(question);
}

// A launch does not wait for the search of a large project to finish.
void judge_unsearched(Explanation& explanation, const Question& question) {
    const Search& search = question.plan.search;
    const base::Path& project = question.plan.project;
    if (search.is_complete || !explanation.is_allowed || !question.physical.is_strictly_within(project))
        return;
    const config::Item* mask = masking_entry(
        search.mask, search.unmask, question.physical.relative_to(project), question.physical.name());
    if (mask == nullptr) return;
    explanation.verdict += " until the search of the project reaches it";
    explanation.reason = {
        "project.mask takes it, and the project is too large to be searched before the start", mask->origin};
}

// The session moves it out of the project when it ends.
void judge_unheld(Explanation& explanation, const Question& question) {
    if (explanation.verdict != verdict_of(Access::writable)) return;
    for (const UnheldName& name : question.plan.unheld_names) {
        if (!question.physical.is_within(name.path)) continue;
        explanation.verdict = "writable now, moved out of the project when the session ends";
        // The summary inside a jail has no reasons of these names.
        const std::string what = name.reason.why.empty() ? "" : name.reason.why + "; ";
        explanation.reason.why =
            what +
            "the name is protected, and you have no tool that reads it: 'agent-sandbox release' puts it back";
        return;
    }
}

std::string advice_without_change(const Explanation& explanation) {
    if (explanation.reason.origin.layer == config::Layer::admin) {
        return base::format("ask the administrator: {} decides", explanation.reason.origin.describe());
    }
    return "no flag and no setting opens it";
}

}  // namespace

Explanation explain_path(const Plan& plan, const host::Tree& tree, const base::Path& path, bool to_write) {
    Explanation explanation{.subject = path.str()};
    base::Result<host::Tree::Resolved> resolved = tree.resolve(path);
    if (!resolved) {
        explanation.verdict = "hidden";
        explanation.reason.why = resolved.error().line();
        return explanation;
    }
    if (resolved->path != path) explanation.subject += " -> " + resolved->path.str();
    Question question{plan, path, resolved->path, tree.look(resolved->path), to_write};

    const PathRule* rule = deciding_rule(plan.rules, resolved->path);
    if (!traits_of(plan.backend).has_view) {
        judge_by_grants(explanation, question, rule);
        return explanation;
    }
    for (const host::Tree::Link& link : resolved->links) {
        if (shows_link(plan, link.path)) continue;
        explanation.verdict = "hidden";
        explanation.reason.why =
            base::format("the symbolic link {} that leads there is not in the jail", link.path.str());
        explanation.change = flag_for(question);
        return explanation;
    }

    const Mount* mount = covering_mount(plan, resolved->path);
    bool is_stand_in = mount && mount->kind == MountKind::bind_readonly && mount->target == resolved->path &&
                       mount->source != mount->target.str() && question.node &&
                       question.node->kind == host::Kind::file;
    bool is_made =
        mount && (mount->kind == MountKind::file || mount->kind == MountKind::private_file || is_stand_in);
    bool is_closed = rule && rule->access < Access::readonly;
    if (is_made && !is_closed) {
        judge_made_file(explanation, question, rule, *mount);
    } else if (is_decided_by_rule(rule, resolved->path)) {
        judge_by_access(explanation, question, rule->access, rule->reason);
        if (!explanation.is_allowed) explanation.change = change_for(question, *rule);
    } else {
        judge_by_mount(explanation, question, rule);
    }
    judge_unsearched(explanation, question);
    judge_unheld(explanation, question);
    // Inside a jail we can't tell whether it exists outside.
    bool is_missing_anyway =
        !explanation.is_allowed && !to_write && !question.node && !plan.is_seen_from_inside;
    if (is_missing_anyway) explanation.reason.why += "; you see no such file outside either";
    return explanation;
}

Explanation explain_variable(const Plan& plan, std::string_view name) {
    Explanation explanation{.subject = std::string(name)};
    for (const Variable& variable : plan.environment.passed) {
        if (variable.name != name) continue;
        explanation.is_allowed = true;
        explanation.verdict = "passed";
        explanation.reason = variable.reason;
        return explanation;
    }
    for (const RemovedVariable& variable : plan.environment.removed) {
        if (variable.name != name) continue;
        explanation.verdict = "removed";
        explanation.reason = variable.reason;
        if (variable.can_be_allowed && variable.reason.origin.layer != config::Layer::admin) {
            explanation.change = "--env " + base::shell_word(name);
        }
        return explanation;
    }
    explanation.verdict = "not set";
    explanation.reason.why = "the caller's environment does not hold it";
    explanation.change = "--env " + base::shell_word(std::string(name) + "=VALUE");
    return explanation;
}

base::Json to_json(const Explanation& explanation) {
    return base::Json::object()
        .set("subject", explanation.subject)
        .set("allowed", explanation.is_allowed)
        .set("verdict", explanation.verdict)
        .set("why", explanation.reason.why)
        .set("origin", explanation.reason.origin.describe())
        .set("change", explanation.change);
}

std::string to_text(const Explanation& explanation, bool is_coloured) {
    using base::printable;
    base::Style style = explanation.is_allowed ? base::Style::green : base::Style::red;
    std::string text = base::format("{}: {}\n", printable(explanation.subject),
                                    base::styled(printable(explanation.verdict), style, is_coloured));
    base::Table table;
    table.add({{"because"}, {printable(explanation.reason.why)}});
    table.add({{"decided by"}, {printable(explanation.reason.origin.describe())}});
    const std::string& change = explanation.change;
    if (!explanation.is_allowed || !change.empty()) {
        table.add({{"to change"}, {printable(change.empty() ? advice_without_change(explanation) : change)}});
    }
    return text + table.text(2, is_coloured);
}

}  // namespace plan
