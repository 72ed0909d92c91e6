// SPDX-License-Identifier: MIT
// Theory of operation. A rule is about a path. In a writable place the jail can make another path lead to
// the same file: it renames a directory above the file, and the next session finds the file under a name
// that has no rule. The kernel refuses to rename, exchange or remove a mount point. So every directory
// between a writable directory and the path of a restricting rule becomes a mount point. This is the only
// code that decides about such pins. It runs when all rules and all mounts of single files are known.
//
// Three more methods defeat a rule in a later session, and are handled here too:
//
//   a symbolic link on the way to the rule     is mounted on itself where the backend can, else reported
//   a directory that the jail made unreadable  is hidden: it was not searched, and a chmod would show it
//   a name that is missing                     its existing directories are pinned
//
// A pin costs one mount, and rename(2) and link(2) across it fail with EXDEV. Rules below the same directory
// share its pin.
// Threat: "mv data data2" in one session, "cat data2/raw/secret" in the next; tests/jail/renames.bats.
#include "plan/pins.h"

#include <algorithm>
#include <set>

#include "base/inside/jail_files.h"
#include "base/path.h"
#include "base/text.h"
#include "config/data.h"
#include "plan/draft.h"

namespace plan {
namespace {

class Pins {
  public:
    explicit Pins(Draft& draft) : draft_(draft) {
        for (const PathRule& rule : draft.rules.sorted()) {
            if (is_host_writable(&rule)) writable_.push_back(rule.path);
        }
    }

    void add() {
        hold_links();
        // A shut directory gets a rule of its own, whose ancestors are pinned as well.
        std::vector<PathRule> more;
        for (const PathRule& rule : draft_.rules.sorted()) {
            bool takes_away = !is_host_writable(&rule) || rule.holds_name;
            if (!takes_away || !is_below_writable(rule.path)) continue;
            if (std::optional<PathRule> closed = shut_above(rule)) more.push_back(*std::move(closed));
            pin_above(rule.path);
        }
        for (const Mount& mount : draft_.after_rules) {
            if (is_below_writable(mount.target)) pin_above(mount.target);
        }
        for (const base::Path& path : draft_.kept_names) {
            if (is_below_writable(path)) pin_above(path);
        }
        for (const base::Path& path : pinned_) {
            more.push_back(PathRule{.path = path,
                                    .access = Access::writable,
                                    .holds_name = true,
                                    .reason = {"can't be renamed aside: a rule is about a path in it", {}}});
        }
        draft_.rules.add_settled(std::move(more));
    }

  private:
    bool is_below_writable(const base::Path& path) const {
        return std::ranges::any_of(writable_,
                                   [&](const base::Path& root) { return path.is_strictly_within(root); });
    }

    void pin_above(const base::Path& path) {
        for (base::Path above = path.parent(); !above.is_root(); above = above.parent()) {
            if (!seen_.insert(above).second) return;
            bool can_be_renamed = is_host_writable(draft_.rules.decide(above.parent()));
            if (can_be_renamed && will_be_directory(above)) pinned_.push_back(above);
        }
    }

    bool will_be_directory(const base::Path& path) const {
        std::optional<host::Node> node = draft_.tree().look(path);
        if (node) return node->kind == host::Kind::directory;
        auto is_made = [&](const auto& made) { return made.path.is_strictly_within(path); };
        return std::ranges::any_of(draft_.plan.placeholders, is_made) ||
               std::ranges::any_of(draft_.plan.new_directories,
                                   [&](const NewDirectory& made) { return made.path.is_within(path); });
    }

    // For a rule whose path was not found: the directory above it that could not be read.
    std::optional<PathRule> shut_above(const PathRule& rule) const {
        bool hides = rule.access == Access::hidden || rule.access == Access::masked;
        if (!hides || draft_.tree().look(rule.path)) return std::nullopt;
        base::Path above = rule.path.parent();
        while (!above.is_root() && !draft_.tree().look(above)) above = above.parent();
        bool is_covered = is_host_writable(draft_.rules.decide(above)) && is_shut(draft_, above);
        if (!is_covered) return std::nullopt;
        return PathRule{.path = above,
                        .access = Access::hidden,
                        .reason = {"its mode keeps out what must be covered in it: chmod u+rwx it outside",
                                   rule.reason.origin}};
    }

    void hold_links() {
        std::set<base::Path> held;
        size_t left = 0;
        const base::Path* first_left = nullptr;
        for (const KeptLink& link : draft_.kept_links) {
            if (!is_host_writable(draft_.rules.decide(link.path.parent()))) {
                draft_.kept_names.push_back(link.path);
                continue;
            }
            if (!held.insert(link.path).second) continue;
            if (draft_.backend().holds_links) {
                draft_.after_rules.push_back(
                    Mount{.kind = MountKind::held_link, .target = link.path, .reason = link.reason});
            } else {
                draft_.kept_names.push_back(link.path);
                if (left++ == 0) first_left = &link.path;
            }
        }
        if (first_left == nullptr) return;
        std::string others = left > 1 ? base::format(" and {} more", left - 1) : "";
        draft_.note(
            NoteKind::protection,
            base::format(
                "{}{} can be exchanged by the jail: a rule is about the place that the symbolic link leads "
                "to, and {} can't hold a link; replace it by what it leads to, or use --backend native",
                base::printable(first_left->str()), others, draft_.backend().title));
    }

    Draft& draft_;
    std::vector<base::Path> writable_;
    std::set<base::Path> seen_;
    std::vector<base::Path> pinned_;
};

}  // namespace

void keep_links(Draft& draft, const host::Tree::Resolved& resolved, const Reason& reason) {
    for (const host::Tree::Link& link : resolved.links) draft.kept_links.push_back({link.path, reason});
}

bool is_in_jails_hand(const Draft& draft, const base::Path& directory) {
    return is_host_writable(draft.rules.decide_unsettled(directory));
}

bool is_shut(const Draft& draft, const base::Path& directory) {
    constexpr uint32_t kOwnerLooks = 0500;
    std::optional<host::Node> node = draft.tree().look(directory);
    return node && node->kind == host::Kind::directory && node->owner == draft.inputs.facts.identity.uid &&
           (node->mode & kOwnerLooks) != kOwnerLooks;
}

void pin_rules(Draft& draft) {
    Pins(draft).add();
}

// Additions by the user: mounts.* and sockets; and mounts.deny_writable, which takes write access back.

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

// Threat: a session of another project may write where an approved path is, and place a link to something
// else there. The user approved this path and not what a link leads to, so the entry then has no effect
// (tests/jail/request.bats). A mount below what the caller may write is pinned, so a link that appears after
// this look is not followed either.
base::Status add_approved(Draft& draft) {
    for (const Item& item : draft.policy().mounts.approved) {
        base::Result<base::Path> literal = absolute_entry(draft, item);
        if (!literal) return literal.error();
        base::Result<host::Tree::Resolved> resolved = draft.tree().resolve(*literal);
        bool is_same = resolved && resolved->exists && resolved->links.empty() && resolved->path == *literal;
        std::optional<host::Node> node = is_same ? draft.tree().look(*literal) : std::nullopt;
        bool is_content = node && (node->kind == host::Kind::file || node->kind == host::Kind::directory);
        if (!is_content || draft.home.is_within(*literal) ||
            !check_built_places(item, *literal, Access::readonly)) {
            draft.note(NoteKind::protection,
                       base::format("{}: {} has no effect: the path does not exist any more, or a symbolic "
                                    "link leads elsewhere; remove the line, or approve it again",
                                    item.origin.describe(), base::printable(item.text)));
            continue;
        }
        if (base::Status closed = close_shown_sockets(draft, item, *literal); !closed) return closed;
        draft.add_rule(*literal, Access::readonly, {"mounts.approved", item.origin});
        draft.approved.push_back(*literal);
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
    if (base::Status added = add_approved(draft); !added) return added;
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
