// SPDX-License-Identifier: MIT
// Additions by the user: mounts.* and sockets; and mounts.deny_writable, which takes write access back.
#include <algorithm>

#include "base/format.h"
#include "base/glob.h"
#include "base/inside/paths_inside.h"
#include "base/text.h"
#include "config/data.h"
#include "plan/draft.h"
#include "plan/pins.h"

namespace plan {
namespace {

using config::Item;

// Directories that the plan builds itself; a mount there would undo it.
struct BuiltPlace {
    std::string_view path;
    std::string_view advice;
};
constexpr BuiltPlace kBuiltPlaces[] = {
    {"/proc", "leave /proc to the jail"},
    {"/dev", "use devices.allow or --device for device nodes"},
    {base::kOwnDirectory, "leave it to the jail"},
    {"/run/host", "leave it to the jail"},
    {"/etc", "use env.set or a configuration file of the program instead"},
};

base::Status check_built_places(const Item& item, const base::Path& path, Access access) {
    if (path.is_root())
        return entry_error(item, "/ can't be shown as a whole", "name the directories that are needed");
    for (const BuiltPlace& place : kBuiltPlaces) {
        base::Path built = base::Path::known(place.path);
        bool is_readable_anyway = place.path == "/etc" && access == Access::readonly && path != built;
        if (is_readable_anyway) continue;
        if (path.is_within(built) || built.is_within(path)) {
            return entry_error(item,
                               base::format("{} can't be mounted: the jail has a {} of its own",
                                            base::printable(path.str()), place.path),
                               std::string(place.advice));
        }
    }
    return base::success();
}

base::Status add_grants(Draft& draft, const policy::Items& items, Access access, std::string_view setting) {
    for (const Item& item : items) {
        base::Result<base::Path> literal = absolute_entry(draft, item);
        if (!literal) return literal.error();
        base::Result<host::Tree::Resolved> resolved = resolve_entry(draft, *literal, item.origin);
        if (!resolved) return resolved.error();
        if (!resolved->exists) {
            bool is_flag = item.origin.layer == config::Layer::command_line;
            return entry_error(item, base::printable(literal->str()) + " does not exist",
                               is_flag ? "make it, or name one that exists"
                                       : "make it, or remove the entry of " + std::string(setting));
        }
        if (base::Status free = check_built_places(item, resolved->path, access); !free) return free;
        if (draft.home.is_within(resolved->path)) {
            return entry_error(item, base::printable(literal->str()) + " holds your home directory",
                               "name the directories that are needed, or set home.access");
        }
        if (base::Status closed = close_shown_sockets(draft, item, resolved->path); !closed) return closed;
        draft.add_rule(resolved->path, access, {std::string(setting), item.origin});
    }
    return base::success();
}

// A session can create a loop of links at the missing path of a rule. The loop leads to no file that needs
// protection, and must not keep the next session from starting.
void note_loop(Draft& draft, const Item& item, const base::Error& error) {
    draft.note(NoteKind::protection, base::format("{}: {} has no effect: {}; {}", item.origin.describe(),
                                                  base::printable(item.text), error.what, error.advice));
}

base::Status add_hidden(Draft& draft) {
    for (const Item& item : draft.policy().mounts.hidden) {
        base::Result<base::Path> literal = absolute_entry(draft, item);
        if (!literal) return literal.error();
        base::Result<host::Tree::Resolved> resolved = resolve_entry(draft, *literal, item.origin);
        if (!resolved) {
            note_loop(draft, item, resolved.error());
            continue;
        }
        const Reason reason{"mounts.hidden", item.origin};
        draft.add_rule(resolved->path, Access::hidden, reason);
        keep_links(draft, *resolved, reason);
    }
    return base::success();
}

base::Status add_socket(Draft& draft, const Item& item, bool is_acknowledged) {
    base::Result<base::Path> literal = absolute_entry(draft, item);
    if (!literal) return literal.error();
    base::Result<host::Tree::Resolved> resolved = resolve_entry(draft, *literal, item.origin);
    if (!resolved) return resolved.error();
    std::optional<host::Node> node = draft.tree().look(resolved->path);
    if (!node || node->kind != host::Kind::socket) {
        return entry_error(item,
                           base::printable(literal->str()) + (node ? " is not a socket" : " does not exist"),
                           "name a Unix socket of the host");
    }
    for (const base::Path& spelling : {*literal, resolved->path}) {
        const config::DataRow* danger = matching_row("sockets/dangerous", spelling);
        if (danger != nullptr && !is_acknowledged) {
            return entry_error(
                item, base::format("{} is dangerous: {}", base::printable(spelling.str()), danger->reason),
                "if that is what you want, name it under sockets.allow_dangerous or with --dangerous-socket");
        }
    }
    draft.add_rule(resolved->path, Access::writable,
                   {is_acknowledged ? "sockets.allow_dangerous" : "sockets.allow", item.origin});
    if (is_acknowledged) {
        draft.note(NoteKind::protection, base::printable(literal->str()) +
                                             " is let in: a process that reaches it acts outside the jail");
    }
    return base::success();
}

}  // namespace

base::Error entry_error(const Item& item, std::string what, std::string advice) {
    return base::Error{.what = std::move(what), .advice = std::move(advice), .where = item.origin.describe()};
}

const config::DataRow* matching_row(std::string_view list, const base::Path& path) {
    for (const config::DataRow& row : config::data_list(list)) {
        if (base::matches_path(row.entry, path.str())) return &row;
    }
    return nullptr;
}

base::Status add_mounts(Draft& draft) {
    const auto& mounts = draft.policy().mounts;
    if (base::Status added = add_grants(draft, mounts.readonly, Access::readonly, "mounts.readonly"); !added)
        return added;
    if (base::Status added = add_grants(draft, mounts.writable, Access::writable, "mounts.writable"); !added)
        return added;
    if (base::Status added = add_hidden(draft); !added) return added;
    for (const Item& item : draft.policy().sockets.allow) {
        if (base::Status added = add_socket(draft, item, false); !added) return added;
    }
    for (const Item& item : draft.policy().sockets.allow_dangerous) {
        if (base::Status added = add_socket(draft, item, true); !added) return added;
    }
    return base::success();
}

// Nothing below such a path is writable. A grant by the user inside it is refused, and a built-in one becomes
// read-only. A path inside a writable directory gets a read-only rule of its own.
base::Status apply_deny_writable(Draft& draft) {
    for (const Item& item : draft.policy().mounts.deny_writable) {
        base::Result<base::Path> literal = absolute_entry(draft, item);
        if (!literal) return literal.error();
        base::Result<host::Tree::Resolved> resolved = draft.tree().resolve(*literal);
        if (!resolved) {
            note_loop(draft, item, resolved.error());
            continue;
        }
        for (PathRule& rule : draft.rules.sorted()) {
            bool is_taken_back = rule.access == Access::writable && rule.backing == Backing::host &&
                                 rule.path.is_within(resolved->path);
            if (!is_taken_back) continue;
            if (rule.path == draft.project) {
                return base::Error{
                    .what = base::format("{} can't be a writable project: {} keeps {} read-only",
                                         base::printable(rule.path.str()), item.origin.describe(),
                                         base::printable(item.text)),
                    .advice = "use --read-only, or a project elsewhere"};
            }
            if (rule.reason.origin.layer != config::Layer::builtin &&
                rule.reason.origin.layer != config::Layer::admin) {
                return base::Error{.what = base::format("{} can't be writable: {} keeps {} read-only",
                                                        base::printable(rule.path.str()),
                                                        item.origin.describe(), base::printable(item.text)),
                                   .advice = "remove the entry",
                                   .where = rule.reason.origin.describe()};
            }
            rule.access = Access::readonly;
        }
        const Reason reason{"mounts.deny_writable", item.origin};
        keep_links(draft, *resolved, reason);
        if (!is_in_jails_hand(draft, resolved->path.parent())) continue;
        if (!resolved->exists) draft.plan.placeholders.push_back(Placeholder{resolved->path, reason});
        draft.rules.add(PathRule{
            .path = resolved->path, .access = Access::readonly, .holds_name = true, .reason = reason});
    }
    return base::success();
}

}  // namespace plan
