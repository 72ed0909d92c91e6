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

#include "base/format.h"
#include "base/text.h"

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

}  // namespace plan
