// SPDX-License-Identifier: MIT
// Theory of operation. An agent chooses what it asks for, so a question is an attack until it is examined:
//
//   at the question  the name becomes canonical: a path is resolved, and the user sees what it leads to. The
//                    policy is made again with the entry, so the ceiling and all rules apply as at a start
//   at the approval  the same again; and the path must still be the same file, without a link on the way
//   at each start    mounts.approved has no effect if a link is on the way (plan/pins.cc)
//
// Threat: an answer to the agent tells it what exists outside. So a path that does not exist is asked about
// like any other, and all refusals of paths have one text (tests/jail/request.bats).
#include "cli/sessions/ask_rules.h"

#include <sys/stat.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "audit/proposal.h"
#include "base/parse.h"
#include "base/path.h"
#include "base/text.h"
#include "cli/arguments.h"
#include "cli/sessions/approved_file.h"
#include "cli/sessions/asked_path.h"
#include "cli/verbs/replan.h"
#include "config/settings.h"
#include "plan/network/network.h"
#include "plan/print/explain.h"
#include "policy/entry_match.h"
#include "rules/rules_text.h"

namespace cli {
namespace {

using session::Ask;
using session::Examined;
using Verdict = Examined::Verdict;

constexpr std::string_view kApproved = "mounts.approved";
constexpr std::string_view kAllowed = "env.allow";
constexpr std::string_view kMissing = "it does not exist";
constexpr std::string_view kProtectedPath =
    "this path is protected, a part of the project or of the jail itself, or too much: no request opens it";
constexpr std::string_view kProtectedVariable =
    "this variable is protected: it may hold a credential or run programs, and no request passes it";

Examined refused(std::string_view text) {
    return {.verdict = Verdict::refused, .text = std::string(text), .name = {}, .identity = {}, .note = {}};
}
Examined open_already(std::string_view text) {
    return {.verdict = Verdict::open, .text = std::string(text), .name = {}, .identity = {}, .note = {}};
}

struct Session {
    const Invocation& call;
    const std::string& id;
    const Planned& planned;
};

// The plan that the next start would have with this entry.
base::Result<Planned> plan_again(const Session& session, std::string_view key, const std::string& text) {
    Caller caller = session.call.caller;
    caller.disk = host::DiskTree();
    caller.is_planning_again = true;
    Arguments arguments = session.call.arguments;
    config::Value& value = arguments.settings[std::string(key)];
    const config::Origin origin = config::from_flag("agent-sandbox approve");
    if (value.items.empty()) value.origin = origin;
    value.items.push_back({text, origin});
    return make_plan(caller, arguments, session.id, arguments.words);
}

// ---- Paths

bool is_content(const base::Path& path) {
    struct stat status;
    return ::lstat(path.c_str(), &status) == 0 && (S_ISREG(status.st_mode) || S_ISDIR(status.st_mode));
}

// Whether the next start would show it. The entry must have its effect under the ceiling, too.
bool would_be_readable(const Session& session, const base::Path& path) {
    base::Result<Planned> now = plan_again(session, kApproved, path.str());
    if (!now) return false;
    const host::DiskTree disk;
    return plan::explain_path(now->plan, disk, path, false).is_allowed;
}

Examined missing(const base::Path& path) {
    return {.verdict = Verdict::ask,
            .text = {},
            .name = path.str(),
            .identity = {},
            .note = std::string(kMissing)};
}

Examined examine_path(const Session& session, const std::string& name) {
    base::Result<base::Path> literal = base::Path::parse(name);
    if (!literal || literal->str() != name) return refused("a path must be absolute, without . and ..");
    const ProtectedPaths closed(session.call.caller, session.planned);
    const UnmountedTree disk;
    if (closed.has_by_name(*literal)) return refused(kProtectedPath);
    base::Result<host::Tree::Resolved> resolved = disk.resolve(*literal);
    if (!resolved || base::printable(resolved->path.str()) != resolved->path.str() ||
        closed.has_by_name(resolved->path))
        return refused(kProtectedPath);
    const base::Path& path = resolved->path;
    if (!resolved->exists) return missing(path);
    if (closed.has(path)) return refused(kProtectedPath);
    if (plan::explain_path(session.planned.plan, disk, path, false).is_allowed)
        return open_already("it can be read in this session");
    Examined examined{.verdict = Verdict::ask, .text = {}, .name = path.str(), .identity = {}, .note = {}};
    if (!is_content(path) || !would_be_readable(session, path)) return refused(kProtectedPath);
    examined.identity = identity_of(path);
    std::optional<host::Node> node = disk.look(path);
    bool is_directory = node && node->kind == host::Kind::directory;
    if (path != *literal) examined.note = "asked for as " + name;
    if (is_directory)
        examined.note += (examined.note.empty() ? "" : "; ") + std::string("with everything in it");
    return examined;
}

base::Status check_path_again(const Session& session, const Ask& ask, const std::string& identity) {
    base::Error changed{
        .what = base::format("{} is not what it was when the agent asked: nothing was written",
                             base::printable(ask.name)),
        .advice = "look at it; then deny the question"};
    base::Result<base::Path> path = base::Path::parse(ask.name);
    const UnmountedTree disk;
    base::Result<host::Tree::Resolved> resolved = path ? disk.resolve(*path) : path.error();
    bool is_same = resolved && resolved->exists && resolved->links.empty() && resolved->path == *path &&
                   !identity.empty() && identity_of(*path) == identity;
    if (identity.empty()) changed.what = base::format("{} does not exist", base::printable(ask.name));
    if (!is_same || ProtectedPaths(session.call.caller, session.planned).has(*path) ||
        !would_be_readable(session, *path))
        return changed;
    return base::success();
}

// ---- Variables

// Why the variable stays out, whatever the user answers; `policy` is that of the start.
bool is_protected_variable(const Session& session, const std::string& name) {
    const policy::Policy& policy = session.planned.settings.policy;
    bool is_ours = name.starts_with("AGENT_SANDBOX");
    bool is_never = std::ranges::any_of(policy.credentials.never_inside, [&](const config::Item& item) {
        return policy::matches_variable_pattern(item.text, name);
    });
    std::string_view value = host::variable(session.call.caller.environment, name).value_or("");
    bool has_gateway = session.planned.plan.network.reached != policy::NetworkMode::open;
    return is_ours || is_never || !plan::added_variable_obstacle(policy, name, value, has_gateway).empty();
}

bool is_set(const Session& session, const std::string& name) {
    return host::variable(session.call.caller.environment, name).has_value();
}

bool would_be_passed(const Session& session, const std::string& name) {
    base::Result<Planned> now = plan_again(session, kAllowed, name);
    if (!now) return false;
    return !is_set(session, name) || plan::explain_variable(now->plan, name).is_allowed;
}

Examined examine_variable(const Session& session, const std::string& name) {
    if (!base::is_variable_name(name)) return refused("this is not the name of a variable");
    if (plan::explain_variable(session.planned.plan, name).is_allowed)
        return open_already("it is passed in this session");
    if (is_protected_variable(session, name) || !would_be_passed(session, name))
        return refused(kProtectedVariable);
    const char* note = is_set(session, name) ? "" : "it is not set where the session was started";
    return {.verdict = Verdict::ask, .text = {}, .name = name, .identity = {}, .note = note};
}

// ---- Hosts

Examined examine_host(const Session& session, const std::string& name) {
    using policy::NetworkMode;
    const plan::Plan& plan = session.planned.plan;
    if (plan.network.reached == NetworkMode::open) return open_already("the network of this session is open");
    if (plan.network.reached == NetworkMode::isolated)
        return refused("this session has no network; its user can start it with --network filtered");
    base::Result<network::Question> question = network::parse_question(name);
    if (!question || question->transport != network::Transport::tcp)
        return refused("a host is HOST or HOST:PORT, without a pattern");
    const std::string target = network::to_text(*question);
    if (!audit::objection_to({config::find_setting("network.allow"), target}, {}).empty())
        return refused("a host is HOST or HOST:PORT, without a pattern");
    base::Result<plan::Explanation> now = plan::explain_host(plan, target);
    if (now && now->is_allowed) return open_already("it is open in this session");
    base::Result<session::Replanned> replanned =
        replan_of(session.call, session.id, session.planned)({{session::LiveRule::Kind::allow, target}});
    if (!replanned) return refused(replanned.error().what);
    return {.verdict = Verdict::ask, .text = {}, .name = target, .identity = {}, .note = {}};
}

Examined examine(const Session& session, const Ask& ask) {
    switch (ask.kind) {
        case Ask::Kind::host:
            return examine_host(session, ask.name);
        case Ask::Kind::path:
            return examine_path(session, ask.name);
        case Ask::Kind::env:
            return examine_variable(session, ask.name);
    }
    return refused("");
}

base::Result<std::string> store(const Session& session, const Ask& ask, const std::string& identity) {
    bool is_path = ask.kind == Ask::Kind::path;
    if (is_path) {
        if (base::Status same = check_path_again(session, ask, identity); !same) return same.error();
    } else if (is_protected_variable(session, ask.name) || !would_be_passed(session, ask.name)) {
        return base::Error{.what = "the settings do not let this variable pass; nothing was written"};
    }
    const Workspace& workspace = session.planned.settings.workspace;
    base::Result<std::string> place =
        add_approved(workspace.files, workspace.physical_project, {is_path ? kApproved : kAllowed, ask.name});
    if (!place) return place.error();
    return base::format("written to {}; it has effect from the next session in {} on",
                        base::printable(*place), base::printable(workspace.physical_project.str()));
}

}  // namespace

session::AskRules ask_rules_of(const Invocation& call, const std::string& session, const Planned& planned) {
    return {.examine =
                [&call, session, &planned](const Ask& ask) {
                    return examine({call, session, planned}, ask);
                },
            .store =
                [&call, session, &planned](const Ask& ask, const std::string& identity) {
                    return store({call, session, planned}, ask, identity);
                }};
}

}  // namespace cli
