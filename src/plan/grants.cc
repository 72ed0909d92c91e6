// SPDX-License-Identifier: MIT
// Theory of operation. Each rule that shows a path of the host asks for a level (read, write) at that path. A
// rule below it that asks for less is an obstacle. What happens with an obstacle:
//
//   around \ obstacle   hidden            masked             read-only
//   read                goes around       goes around        –
//   write               goes around       goes around        is reported as unprotected; goes around what
//                                                             an administrator or the sandbox itself keeps
//   writable project    goes around       is reported as     the same
//                                         unmasked
//
// "Goes around" means: the entries of the directory are granted one by one, without the obstacle. In a
// directory without a grant nothing can be created. So a writable project is granted as a whole even if a
// file in it is masked: a project in which nothing can be created is useless.
//
// A directory that is private to the jail in other backends (/tmp, an empty home) is an obstacle and grants
// nothing: Landlock has no private directories.
#include "plan/grants.h"

#include <algorithm>

#include "base/inside/jail_files.h"
#include "base/text.h"
#include "plan/rules.h"

namespace plan {
namespace {

enum class GrantLevel { none, read, write };

const base::Path kEtc = base::Path::known("/etc");
const base::Path kDev = base::Path::known("/dev");
const base::Path kProc = base::Path::known("/proc");
const base::Path kOwnDirectory = base::Path::known(base::kOwnDirectory);

bool is_closed(const PathRule& rule) {
    return rule.access == Access::hidden || rule.access == Access::masked;
}

// The level that a rule grants on the host. /etc is the host's own here; the other assembled directories have
// code of their own below.
GrantLevel level_of(const PathRule& rule) {
    if (is_closed(rule)) return GrantLevel::none;
    if (rule.backing == Backing::assembled) return rule.path == kEtc ? GrantLevel::read : GrantLevel::none;
    if (rule.backing == Backing::ephemeral) return GrantLevel::none;
    return rule.access == Access::writable ? GrantLevel::write : GrantLevel::read;
}

class Granter {
  public:
    explicit Granter(const GrantInputs& inputs) : inputs_(inputs), rules_(inputs.rules) {
        for (const base::Path& path : inputs.kept) {
            base::Result<host::Tree::Resolved> resolved = inputs.tree.resolve(path);
            if (resolved) kept_.push_back(resolved->path);
        }
        add_private_etc();
        for (const PathRule& rule : rules_) note_obstacle(rule);
    }

    Grants make() {
        for (const PathRule& rule : rules_) {
            if (GrantLevel level = level_of(rule); level != GrantLevel::none) give_rule(rule, level);
        }
        give_devices();
        if (const PathRule* proc = rule_at(kProc)) give_proc(*proc);
        give_own();
        find_missing();
        finish();
        return std::move(result_);
    }

  private:
    // ---- Closed paths

    // Every backend leaves these out of /etc; Landlock needs rules for that.
    void add_private_etc() {
        std::vector<PathRule> closed;
        const Reason own{"the sandbox's own configuration", {}};
        closed.push_back({.path = kEtc / "agent-sandbox", .reason = own});
        for (const base::Path& path : inputs_.private_etc)
            closed.push_back({.path = path, .reason = {"not readable by everyone on this host", {}}});
        for (PathRule& rule : closed) {
            auto place = std::ranges::lower_bound(rules_, rule.path, {}, &PathRule::path);
            if (place != rules_.end() && place->path == rule.path) {
                place->access = Access::hidden;
            } else {
                rules_.insert(place, std::move(rule));
            }
        }
    }

    bool is_kept(const PathRule& rule) const {
        return rule.reason.origin.layer == config::Layer::admin || rule.path == inputs_.project ||
               std::ranges::find(kept_, rule.path) != kept_.end();
    }

    bool will_be_made(const base::Path& path) const {
        return std::ranges::any_of(inputs_.new_directories,
                                   [&](const NewDirectory& made) { return made.path.is_within(path); });
    }

    // The level that the nearest rule above would grant here.
    GrantLevel level_around(const PathRule& rule) const {
        const PathRule* above = rule.path.is_root() ? nullptr : deciding_rule(rules_, rule.path.parent());
        return above == nullptr ? GrantLevel::none : level_of(*above);
    }

    bool is_in_writable_project(const PathRule& rule) const {
        if (!rule.path.is_strictly_within(inputs_.project)) return false;
        const PathRule* project = deciding_rule(rules_, inputs_.project);
        return project != nullptr && level_of(*project) == GrantLevel::write;
    }

    void note_obstacle(const PathRule& rule) {
        GrantLevel level = level_of(rule), around = level_around(rule);
        if (rule.path.is_strictly_within(kProc)) return note_in_proc(rule);
        if (rule.access == Access::masked && is_in_writable_project(rule)) {
            result_.unmasked.push_back(rule);
            return;
        }
        if (level == GrantLevel::read && around == GrantLevel::write) {
            if (!is_kept(rule)) {
                result_.unprotected.push_back(rule);
                return;
            }
            read_only_.push_back(rule.path);
            return;
        }
        if (level != GrantLevel::none || is_ours(rule)) return;
        closed_.push_back(rule.path);
        // A missing path can't be read, but where the directory is writable the jail could create it.
        bool is_there = inputs_.tree.look(rule.path).has_value() || will_be_made(rule.path);
        if (is_there) closed_and_there_.push_back(rule.path);
    }

    // The session's own directory contains nothing that the jail must not read.
    bool is_ours(const PathRule& rule) const {
        return rule.backing == Backing::assembled && !is_closed(rule) && !rule.path.is_within(kDev) &&
               rule.path != kProc;
    }

    // Processes start and exit all the time, so /proc can't be granted entry by entry.
    void note_in_proc(const PathRule& rule) {
        if (is_closed(rule)) result_.unmasked.push_back(rule);
    }

    static bool is_one_within(const std::vector<base::Path>& sorted, const base::Path& path) {
        // In sort order, strings that begin with "/a/" are adjacent, and "/a-b" comes before them.
        const std::string below = path.is_root() ? "/" : path.str() + "/";
        auto first = std::ranges::lower_bound(sorted, below, {}, &base::Path::str);
        if (path.is_root() && first != sorted.end() && first->is_root()) ++first;
        return first != sorted.end() && first->str().starts_with(below);
    }

    bool holds_obstacle(const base::Path& path, GrantLevel level) const {
        if (level == GrantLevel::read) return is_one_within(closed_and_there_, path);
        return is_one_within(closed_, path) || is_one_within(read_only_, path);
    }

    const PathRule* rule_at(const base::Path& path) const {
        const PathRule* rule = deciding_rule(rules_, path);
        return rule != nullptr && rule->path == path ? rule : nullptr;
    }

    // ---- Grants

    void give_rule(const PathRule& rule, GrantLevel level) {
        if (is_given(rule.path, level)) return;
        std::optional<host::Node> node = inputs_.tree.look(rule.path);
        // The launch creates a missing directory. A link needs no grant, and its target has a rule.
        if (!node && !will_be_made(rule.path)) return;
        if (node && node->kind == host::Kind::symlink) return;
        host::Kind kind = node ? node->kind : host::Kind::directory;
        if (kind == host::Kind::directory && holds_obstacle(rule.path, level)) {
            give_entries(rule.path, level, rule.reason);
            return;
        }
        give(rule.path, level, kind, rule.reason);
    }

    void give_entries(const base::Path& directory, GrantLevel level, const Reason& reason) {
        const std::vector<host::Entry>& entries = inputs_.tree.list(directory);
        looked_at_ += entries.size();
        if (entries.size() > kMostEntries || looked_at_ > kMostEntriesInAll) {
            result_.notes.push_back(
                {NoteKind::information, base::printable(directory.str()) +
                                            " has too many entries to leave out what is hidden in it, and "
                                            "can't be used at all"});
            return;
        }
        for (const host::Entry& entry : entries) {
            const base::Path path = directory / entry.name;
            bool speaks_for_itself = entry.kind == host::Kind::symlink || rule_at(path) != nullptr;
            if (speaks_for_itself) continue;
            if (entry.kind == host::Kind::directory && holds_obstacle(path, level)) {
                give_entries(path, level, reason);
            } else {
                give(path, level, entry.kind, reason);
            }
        }
    }

    void give(const base::Path& path, GrantLevel level, host::Kind kind, const Reason& reason) {
        bool is_device = level == GrantLevel::write && kind == host::Kind::device;
        GrantKind given = level == GrantLevel::read ? GrantKind::read
                          : is_device               ? GrantKind::use
                                                    : GrantKind::write;
        result_.grants.push_back({path, given, reason});
    }

    // A grant of a directory above it. Rules are sorted by path, so that grant exists already.
    bool is_given(const base::Path& path, GrantLevel level) const {
        return std::ranges::any_of(result_.grants, [&](const Grant& grant) {
            bool is_enough = level == GrantLevel::read || grant.kind == GrantKind::write;
            return is_enough && path.is_within(grant.path);
        });
    }

    void give_device(const base::Path& path, const Reason& reason) {
        const PathRule* rule = deciding_rule(rules_, path);
        std::optional<host::Node> node = inputs_.tree.look(path);
        if (!node || rule == nullptr || is_closed(*rule)) return;
        bool is_directory = node->kind == host::Kind::directory;
        if (is_directory && is_one_within(closed_, path)) return;
        result_.grants.push_back({path, is_directory ? GrantKind::write : GrantKind::use, reason});
    }

    void give_devices() {
        const PathRule* dev = rule_at(kDev);
        if (dev == nullptr || dev->backing != Backing::assembled) return;
        for (std::string_view name : base::kDeviceNodes) give_device(kDev / name, dev->reason);
        for (const Mount& mount : inputs_.mounts) {
            if (mount.kind != MountKind::bind_device || !mount.target.is_within(kDev)) continue;
            base::Result<base::Path> source = base::Path::parse(mount.source);
            bool is_shared = std::ranges::count(base::kSharedDirectories, mount.target.str()) > 0;
            if (!source || (is_shared && inputs_.private_ipc)) continue;
            give_device(*source, mount.reason);
        }
    }

    // Landlock itself refuses access to the entries of other processes that show more than names.
    void give_proc(const PathRule& rule) {
        if (is_closed(rule)) return;
        result_.grants.push_back({kProc, GrantKind::read, {"processes of the host", {}}});
        // CUDA names its threads by writing there, and fails without it. Root, as the owner of the kernel's
        // settings, could write those too.
        if (!uses_graphics() || inputs_.is_root) return;
        result_.grants.push_back({kProc, GrantKind::use, {"CUDA names its threads through it", {}}});
        result_.notes.push_back({NoteKind::information,
                                 "/proc can be written for the GPU's sake: how the kernel treats the user's "
                                 "other processes when memory is short can be changed"});
    }

    bool uses_graphics() const {
        constexpr std::string_view kNodes[] = {"/dev/nvidia", "/dev/kfd", "/dev/dri"};
        return std::ranges::any_of(inputs_.mounts, [&](const Mount& mount) {
            return mount.kind == MountKind::bind_device &&
                   std::ranges::any_of(
                       kNodes, [&](std::string_view node) { return mount.target.str().starts_with(node); });
        });
    }

    void give_own() {
        if (!inputs_.program.is_root())
            result_.grants.push_back({inputs_.program, GrantKind::read, {"the program itself", {}}});
        if (inputs_.private_directory.is_root()) return;
        result_.grants.push_back(
            {inputs_.private_directory, GrantKind::read, {"what the session gives the jail", {}}});
        result_.grants.push_back(
            {inputs_.private_directory / "tmp", GrantKind::write, {"temporary files of the jail alone", {}}});
    }

    // ---- What Landlock can't do

    static bool covers_with_content(const Mount& mount) {
        switch (mount.kind) {
            case MountKind::file:
            case MountKind::private_file:
                return true;
            case MountKind::bind_readonly:
            case MountKind::bind_writable:
                return mount.source != mount.target.str();
            default:
                return false;
        }
    }

    // Rules describe what is hidden. These mounts show a file of the jail's own in place of the host's.
    void find_missing() {
        const base::Path host_etc = base::Path::known("/run/host");
        for (const Mount& mount : inputs_.mounts) {
            bool is_ours = mount.target.is_within(kOwnDirectory) || mount.target.is_within(host_etc);
            if (!is_ours && covers_with_content(mount))
                result_.missing.push_back({mount.target, mount.reason});
        }
    }

    // A walk around another obstacle may already have excluded this path; drop it from the report.
    void drop_what_holds() {
        auto is_covered = [&](const PathRule& rule, GrantKind least) {
            return std::ranges::any_of(result_.grants, [&](const Grant& grant) {
                return grant.kind >= least && rule.path.is_within(grant.path);
            });
        };
        std::erase_if(result_.unprotected,
                      [&](const PathRule& rule) { return !is_covered(rule, GrantKind::use); });
        std::erase_if(result_.unmasked,
                      [&](const PathRule& rule) { return !is_covered(rule, GrantKind::read); });
    }

    void finish() {
        drop_what_holds();
        std::ranges::stable_sort(result_.grants, [](const Grant& a, const Grant& b) {
            return a.path != b.path ? a.path < b.path : a.kind > b.kind;
        });
        auto repeated = std::ranges::unique(result_.grants, {}, &Grant::path);
        result_.grants.erase(repeated.begin(), repeated.end());
    }

    const GrantInputs& inputs_;
    std::vector<PathRule> rules_;
    // Sorted like the rules.
    std::vector<base::Path> closed_, closed_and_there_, read_only_;
    std::vector<base::Path> kept_;
    size_t looked_at_ = 0;
    Grants result_;
};

}  // namespace

std::string_view to_text(GrantKind kind) {
    switch (kind) {
        case GrantKind::read:
            return "read";
        case GrantKind::use:
            return "use";
        case GrantKind::write:
            return "write";
    }
    return "";
}

Grants make_grants(const GrantInputs& inputs) {
    return Granter(inputs).make();
}

}  // namespace plan
