// SPDX-License-Identifier: MIT
// The project: writable, but for what would run later outside the jail (protected) and what holds secrets (masked).
//
// A protected path that exists becomes a read-only mount of its own, and every directory between it and the project a mount
// point too, because a mount point can't be renamed aside. One that is missing is held by a placeholder at its first missing
// component. Threat: planting .git/hooks, .vscode/tasks.json and their like; tests/jail/protected.bats.
#include <algorithm>

#include "base/glob.h"
#include "base/text.h"
#include "config/data.h"
#include "plan/draft.h"
#include "plan/git.h"
#include "plan/project_search.h"

namespace plan {
namespace {

using config::Item;
using config::Layer;

class Protection {
  public:
    explicit Protection(Draft& draft) : draft_(draft) {}

    // `relative` below `root`; a wildcard may stand in the last component and then takes what exists.
    void protect(const base::Path& root, std::string_view relative, const Reason& reason, bool holds_missing = true) {
        const base::Path path = root / relative;
        if (base::has_wildcard(path.name())) {
            for (const host::Entry& entry : draft_.tree().list(path.parent())) {
                if (base::matches_name(path.name(), entry.name)) protect_existing(root, path.parent() / entry.name, reason);
            }
            return;
        }
        base::Path place = root;
        for (std::string_view component : base::split(path.relative_to(root), '/')) {
            place = place / component;
            std::optional<host::Node> node = draft_.tree().look(place);
            if (node && node->kind == host::Kind::symlink) return refuse_link(place, reason);
            // An empty directory may be the placeholder of another session, which takes it away when it ends: it is held
            // like a missing one.
            bool is_empty_directory = node && node->kind == host::Kind::directory && draft_.tree().list(place).empty();
            if (node && !is_empty_directory) continue;
            if (holds_missing) return hold(root, place, reason);
            if (!node) return;
        }
        protect_existing(root, path, reason);
    }

    void protect_existing(const base::Path& root, const base::Path& path, const Reason& reason) {
        pin_ancestors(root, path);
        draft_.rules.add(PathRule{.path = path, .access = Access::readonly, .holds_name = true, .reason = reason});
    }

    // The first path that can't be protected.
    const std::optional<base::Error>& refusal() const { return refusal_; }

    // A mount point of its own, as are the directories between it and `root`.
    void pin(const base::Path& root, const base::Path& path) {
        pin_ancestors(root, path);
        draft_.rules.add(PathRule{.path = path,
                                  .access = Access::writable,
                                  .holds_name = true,
                                  .reason = {"holds a protected path and can't be renamed aside", {}}});
    }

  private:
    void hold(const base::Path& root, const base::Path& path, const Reason& reason) {
        // Where the caller can't write, the jail can't either.
        if (!draft_.tree().may_write(path.parent())) return;
        pin_ancestors(root, path);
        draft_.rules.add(PathRule{.path = path, .access = Access::readonly, .holds_name = true, .reason = reason});
        auto same = [&](const Placeholder& known) { return known.path == path; };
        if (std::ranges::none_of(draft_.plan.placeholders, same)) draft_.plan.placeholders.push_back({path, reason});
    }

    void pin_ancestors(const base::Path& root, const base::Path& path) {
        if (path.parent().is_strictly_within(root)) pin(root, path.parent());
    }

    // Nothing can be mounted on a link, so its name can't be held.
    void refuse_link(const base::Path& path, const Reason& reason) {
        if (refusal_) return;
        std::string relative(path.relative_to(draft_.project));
        refusal_ = base::Error{.what = base::printable(path.str()) + " is a symbolic link and can't be protected (" +
                                       reason.why + ")",
                               .advice = "replace it by what it points to, use --read-only, or list it under project.unprotect",
                               .where = reason.origin.file.empty() ? "" : reason.origin.describe()};
    }

    Draft& draft_;
    std::optional<base::Error> refusal_;
};

bool is_lifted(const policy::Policy& policy, const Item& item) {
    if (item.origin.layer == Layer::admin) return false;
    return std::ranges::any_of(policy.project.unprotect, [&](const Item& lifted) {
        return lifted.text == item.text || base::matches_path(lifted.text, item.text) ||
               std::string_view(item.text).starts_with(lifted.text + "/");
    });
}

// The entries of project.protect that lie in ".git", relative to it.
struct GitEntry {
    std::string_view relative;
    Reason reason;
};

void protect_git(Protection& protection, const GitPlaces& places, const std::vector<GitEntry>& entries,
                 const base::Path& project) {
    if (places.link) {
        protection.protect_existing(project, *places.link, {"leads git to its directory, and with it to hooks", {}});
    }
    protection.pin(project, places.common);
    protection.pin(project, places.directory);
    // Missing names are held in the repository itself; in the directories of its submodules and worktrees git makes files freely.
    constexpr bool kHoldsMissing = true;
    std::vector<base::Path> others = places.submodules;
    others.insert(others.end(), places.worktrees.begin(), places.worktrees.end());
    if (places.directory != places.common) others.push_back(places.directory);
    for (const GitEntry& entry : entries) {
        protection.protect(places.common, entry.relative, entry.reason, kHoldsMissing);
        for (const base::Path& other : others) {
            std::string below = std::string(other.relative_to(places.common)) + "/" + std::string(entry.relative);
            protection.protect(places.common, below, entry.reason, !kHoldsMissing);
        }
    }
}

bool is_credential(const Draft& draft, const base::Path& path) {
    return std::ranges::any_of(config::data_list("home/credentials"), [&](const config::DataRow& row) {
        return path.is_within(draft.home / row.entry) || (draft.home / row.entry).is_within(path);
    });
}

// The repository of a worktree or submodule lies outside the project and is needed for every git command. It opens only where a
// project might lie too.
bool may_open(Draft& draft, const GitPlaces& places) {
    if (places.common.is_within(draft.project)) return true;
    bool is_permitted = !is_credential(draft, places.common) && !draft.home.is_within(places.common) &&
                        is_below_parents(draft, places.common);
    if (!is_permitted) {
        draft.note(NoteKind::information, "the repository " + base::printable(places.common.str()) +
                                              " lies where no project may: git does not work here");
    }
    return is_permitted;
}

void add_git(Draft& draft, Protection& protection, const std::vector<GitEntry>& entries, const Found& found) {
    const base::Path& project = draft.project;
    std::optional<GitPlaces> git = find_git(draft.tree(), project);
    if (git && !may_open(draft, *git)) git.reset();
    bool is_writable = draft.plan.project_is_writable;
    if (git) {
        Access access = is_writable ? Access::writable : Access::readonly;
        if (!git->common.is_within(project)) draft.add_rule(git->common, access, {"the repository of this working tree", {}});
        if (!git->directory.is_within(git->common) && !git->directory.is_within(project)) {
            draft.add_rule(git->directory, access, {"the repository of this working tree", {}});
        }
    }
    if (!is_writable || entries.empty()) return;
    if (git) {
        protect_git(protection, *git, entries, project);
    } else if (draft.tree().look(project / ".git")) {
        protection.protect(project, ".git", {"a .git that leads to no repository of this project", {}});
    } else {
        protection.protect(project, ".git", {"a repository with hooks could be planted: run 'git init' outside first", {}});
    }
    for (const base::Path& nested : found.nested_repositories) {
        std::optional<GitPlaces> places = find_git(draft.tree(), nested);
        if (places && places->common.is_within(project)) {
            protect_git(protection, *places, entries, project);
        } else {
            protection.protect(project, std::string(nested.relative_to(project)) + "/.git",
                               {"a .git that leads to no repository of this project", {}});
        }
    }
}

base::Status add_protected(Draft& draft, const Found& found) {
    Protection protection(draft);
    std::vector<GitEntry> git_entries;
    for (const Item& item : draft.policy().project.protect) {
        if (is_lifted(draft.policy(), item)) continue;
        Reason reason{reason_for("project/protect", "project.protect", item), item.origin};
        constexpr std::string_view kGitPrefix = ".git/";
        if (std::string_view(item.text).starts_with(kGitPrefix)) {
            git_entries.push_back({std::string_view(item.text).substr(kGitPrefix.size()), std::move(reason)});
        } else if (draft.plan.project_is_writable) {
            protection.protect(draft.project, item.text, reason);
        }
    }
    add_git(draft, protection, git_entries, found);
    if (protection.refusal()) return *protection.refusal();
    return base::success();
}

void add_masked(Draft& draft, const Found& found) {
    for (const auto& [path, item] : found.masked) {
        // A link is masked where it leads to; outside the project that is not visible anyway.
        base::Result<host::Tree::Resolved> resolved = draft.tree().resolve(path);
        if (!resolved || !resolved->exists || !resolved->path.is_within(draft.project)) continue;
        Reason reason{reason_for("project/mask", "project.mask", item), item.origin};
        draft.add_rule(resolved->path, Access::masked, std::move(reason));
    }
    if (!found.is_complete) {
        draft.note(NoteKind::information,
                   "the project is large: files to mask were looked for near its top only; name deeper ones with project.mask");
    }
}

}  // namespace

base::Status add_project(Draft& draft) {
    const auto& project = draft.policy().project;
    draft.plan.project_is_writable = !project.read_only;
    draft.add_rule(draft.project, project.read_only ? Access::readonly : Access::writable,
                   {project.read_only ? "the project, for reading" : "the project", project.read_only_origin});
    Found found = search_project(draft.tree(), draft.project, draft.policy());
    add_masked(draft, found);
    if (base::Status added = add_protected(draft, found); !added) return added;

    // The program itself may lie in the project: who can replace it runs outside the jail next time.
    const base::Path& program = draft.inputs.facts.own_program;
    if (program.is_within(draft.project)) {
        Protection(draft).protect_existing(draft.project, program, {"the sandbox's own program", {}});
    }
    return base::success();
}

}  // namespace plan
