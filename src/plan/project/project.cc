// SPDX-License-Identifier: MIT
// The project: writable, except for files that would run outside the jail later (protected) and files that
// contain secrets (masked). Threat: planting .git/hooks, .vscode/tasks.json and similar files;
// tests/jail/protected.bats.
#include <algorithm>
#include <map>

#include "base/format.h"
#include "base/glob.h"
#include "base/text.h"
#include "config/data.h"
#include "host/remedies.h"
#include "plan/draft.h"
#include "plan/pins.h"
#include "plan/project/crowds.h"
#include "plan/project/git_places.h"
#include "plan/project/project_search.h"
#include "plan/project/protected_place.h"
#include "plan/project/protection.h"

namespace plan {
namespace {

using config::Item;
using config::Layer;

// Programs ignore a directory, and git does not see it. But some agents fail on a directory with the name of
// a file that they read.
WhenMissing when_missing(const Draft& draft, const Item& item) {
    // A placeholder named .hg would look like a repository of Mercurial's.
    std::string_view first = std::string_view(item.text).substr(0, item.text.find('/'));
    bool is_of_other_repository = first == ".hg" || first == ".jj";
    if (is_of_other_repository && !draft.tree().look(draft.project / first)) return WhenMissing::leave;
    if (draft.inputs.agent == nullptr) return WhenMissing::hold_with_directory;
    bool is_read = std::ranges::any_of(draft.inputs.agent->project_files,
                                       [&](const Item& file) { return file.text == item.text; });
    return is_read ? WhenMissing::hold_with_object : WhenMissing::hold_with_directory;
}

// An entry without a wildcard is held by a placeholder.
void add_late_pattern(Draft& draft, const Item& item) {
    const base::Path path = draft.project / item.text;
    if (base::has_wildcard(item.text) && draft.plan.search.has_guard)
        draft.plan.search.late_names.push_back({path.parent(), std::string(path.name()), Access::readonly});
}

void add_protected(Draft& draft, Protection& protection, const Found& found) {
    std::vector<GitEntry> git_entries;
    for (const Item& item : draft.policy().project.protect) {
        if (is_lifted(draft.policy(), item)) continue;
        Reason reason{reason_for("project/protect", "project.protect", item), item.origin};
        constexpr std::string_view kGitPrefix = ".git/";
        if (std::string_view(item.text).starts_with(kGitPrefix)) {
            git_entries.push_back({std::string_view(item.text).substr(kGitPrefix.size()), std::move(reason)});
        } else if (draft.plan.project_is_writable) {
            protection.protect(draft.project, item.text, reason, when_missing(draft, item));
            add_late_pattern(draft, item);
        }
    }
    add_git(draft, protection, git_entries, found);
}

// Whether a file can be covered while the session runs. Not with a set-uid bubblewrap, because the caller may
// not enter its namespaces, and not before Linux 5.8, which can't tell a mount point from another directory.
bool can_cover_later(const Draft& draft) {
    const host::Facts& facts = draft.inputs.facts;
    bool is_set_uid = draft.plan.backend == Backend::bwrap && facts.bwrap.is_setuid;
    return draft.backend().has_namespaces && !is_set_uid && host::is_kernel_at_least(facts.kernel, 5, 8);
}

Found search(Draft& draft) {
    Search& search = draft.plan.search;
    search.mask = draft.policy().project.mask;
    search.unmask = draft.policy().project.unmask;
    search.has_guard = can_cover_later(draft);
    SearchBounds bounds{.has_guard = search.has_guard};
    if (search.has_guard) bounds.is_over = draft.inputs.is_search_over;
    Found found = search_project(draft.tree(), draft.project, search, draft.inputs.known_places, bounds);
    search.is_complete = found.is_complete;
    for (const auto& [path, item] : found.masked)
        search.findings.emplace_back(path.relative_to(draft.project));
    for (const base::Path& tree : found.nested_repositories)
        search.findings.emplace_back((tree / ".git").relative_to(draft.project));
    return found;
}

// If there are too many repositories and no directory below the project contains many of them, the whole
// project becomes read-only.
void close_crowded_project(Draft& draft, Found& found) {
    const size_t most = most_repositories(draft.plan.backend);
    const size_t single = find_crowds(draft.project, found.nested_repositories, most).single.size();
    if (single <= most || !draft.plan.project_is_writable) return;
    draft.plan.project_is_writable = false;
    draft.add_rule(draft.project, Access::readonly, {"more repositories than can be protected", {}});
    draft.note(NoteKind::protection,
               base::format("the project is read-only: {} repositories lie in it, and {} can be protected; "
                            "move or remove them, or use --project with one of them",
                            single, most));
}

// Threat: the jail removes the permissions of a directory of the caller, so that the next launch can't search
// it, and restores them inside (tests/jail/search.bats). On a read-only mount chmod fails.
void close_unlisted(Draft& draft, Protection& protection, const base::Path& directory) {
    std::optional<host::Node> node = draft.tree().look(directory);
    bool is_callers = node && node->owner == draft.inputs.facts.identity.uid;
    if (!is_callers || directory == draft.project || !draft.plan.project_is_writable) return;
    protection.protect_existing(directory,
                                {"it can't be searched for secrets: you have no permission to list it", {}});
    draft.note(NoteKind::protection,
               base::printable(directory.str()) +
                   " is read-only: you have no permission to list it, so it was not searched for files to "
                   "mask; 'chmod u+rx' changes that");
}

void close_too_deep(Draft& draft, const base::Path& directory) {
    draft.add_rule(directory, Access::masked, {"nested too deep to be searched for secrets", {}});
    draft.note(NoteKind::protection, base::printable(directory.str()).substr(0, 200) +
                                         "… is hidden: it is nested too deep to be searched for files to "
                                         "mask; move or remove it");
}

// The targets of the files to mask: a link is masked at its target; a target outside the project is not
// visible anyway.
std::map<base::Path, Reason> physical_masks(Draft& draft, Protection& protection, const Found& found) {
    std::map<base::Path, Reason> masks;
    for (const auto& [path, item] : found.masked) {
        base::Result<host::Tree::Resolved> resolved = draft.tree().resolve(path);
        // The name was listed but can't be read: its directory lacks the search permission (x).
        if (resolved && !resolved->exists && !draft.tree().look(path)) {
            close_unlisted(draft, protection, path.parent());
        }
        if (!resolved || !resolved->exists || !resolved->path.is_strictly_within(draft.project)) continue;
        Reason reason{reason_for("project/mask", "project.mask", item), item.origin};
        keep_links(draft, *resolved, reason);
        masks.emplace(resolved->path, std::move(reason));
    }
    return masks;
}

base::Status add_masked(Draft& draft, Protection& protection, Found& found) {
    for (const base::Path& directory : found.unlisted) close_unlisted(draft, protection, directory);
    for (const base::Path& directory : found.without_entries) {
        if (is_shut(draft, directory)) close_unlisted(draft, protection, directory);
    }
    for (const base::Path& directory : found.too_deep) close_too_deep(draft, directory);
    std::map<base::Path, Reason> masks = physical_masks(draft, protection, found);
    std::vector<base::Path> paths;
    for (const auto& [path, reason] : masks) paths.push_back(path);
    const size_t most = most_covered_singly(draft.plan.backend);
    Crowds crowds = find_crowds(draft.project, std::move(paths), most);
    if (crowds.single.size() > most) {
        return base::Error{
            .what = base::format("{} files to mask lie in {}, and {} can be covered", crowds.single.size(),
                                 base::printable(draft.project.str()), most),
            .advice = "remove them, or name them in project.unmask"};
    }
    for (const Crowds::Directory& crowd : crowds.directories) {
        draft.add_rule(crowd.path, Access::masked,
                       {"holds more files to mask than can be covered singly", {}});
        draft.note(NoteKind::protection,
                   base::format("{} is hidden: {} files to mask lie in it, and {} can be covered singly; "
                                "remove them, or name them in project.unmask",
                                base::printable(crowd.path.str()), crowd.held, most));
        // Threat: a mount for a repository inside would show a part of the closed directory again.
        std::erase_if(found.nested_repositories,
                      [&](const base::Path& tree) { return tree.is_within(crowd.path); });
    }
    for (const base::Path& path : crowds.single)
        draft.add_rule(path, Access::masked, std::move(masks.at(path)));
    draft.plan.search.masked = masks.size();
    return base::success();
}

}  // namespace

base::Status add_project(Draft& draft) {
    const auto& project = draft.policy().project;
    draft.plan.project_is_writable = !project.read_only;
    draft.add_rule(
        draft.project, project.read_only ? Access::readonly : Access::writable,
        {project.read_only ? "the project, for reading" : "the project", project.read_only_origin});
    Found found = search(draft);
    Protection protection(draft);
    close_crowded_project(draft, found);
    if (base::Status masked = add_masked(draft, protection, found); !masked) return masked;
    add_protected(draft, protection, found);

    if (draft.plan.project_is_writable && is_shut(draft, draft.project)) {
        protection.close(draft.project, {"its mode keeps the search for files to cover out", {}});
    }

    // The program itself may be in the project: a jail that could replace it would run code outside next
    // time.
    const base::Path& program = draft.inputs.facts.own_program;
    if (program.is_within(draft.project)) {
        protection.protect_existing(program, {"the sandbox's own program", {}});
    }
    return protection.status();
}

}  // namespace plan
