// SPDX-License-Identifier: MIT
// The project: writable, except for files that would run outside the jail later (protected) and files that
// contain secrets (masked). Threat: planting .git/hooks, .vscode/tasks.json and similar files;
// tests/jail/protected.bats.
#include <algorithm>
#include <map>

#include "base/path.h"
#include "base/text.h"
#include "config/data.h"
#include "host/remedies.h"
#include "plan/draft.h"
#include "plan/pins.h"
#include "plan/project/git.h"
#include "plan/project/git_places.h"
#include "plan/project/project_search.h"
#include "plan/project/protection.h"
#include "plan/project/tools.h"

namespace plan {
namespace {

using config::Item;
using config::Layer;

// Programs ignore a directory, and git does not see it. But some agents fail on a directory with the name of
// a file that they read.
WhenMissing when_missing(const Draft& draft, std::span<const std::string_view> agents_files, Tools& tools,
                         const Item& item) {
    // A placeholder named .hg would look like a repository of Mercurial's.
    std::string_view first = std::string_view(item.text).substr(0, item.text.find('/'));
    if (item.text == kBareHead) return WhenMissing::set_aside;
    bool is_of_other_repository = first == ".hg" || first == ".jj";
    if (is_of_other_repository && !draft.tree().look(draft.project / first)) return WhenMissing::leave;
    if (!is_of_other_repository && !tools.needs_hold(item)) return WhenMissing::set_aside;
    bool is_read = std::ranges::find(agents_files, item.text) != agents_files.end();
    return is_read ? WhenMissing::hold_with_object : WhenMissing::hold_with_directory;
}

// An entry without a wildcard is held by a placeholder.
void add_late_pattern(Draft& draft, const Item& item) {
    const base::Path path = draft.project / item.text;
    if (base::has_wildcard(item.text) && draft.plan.search.has_guard)
        draft.plan.search.late_names.push_back({path.parent(), std::string(path.name()), Access::readonly});
}

// Another session may have seen this name missing, and its jail may have made it.
void add_existing(Draft& draft, const Item& item, const Reason& reason) {
    const base::Path path = draft.project / item.text;
    if (!base::has_wildcard(item.text) && draft.tree().look(path))
        draft.plan.unheld_names.push_back({path, reason, std::nullopt});
}

void add_protected(Draft& draft, Protection& protection, const Found& found) {
    std::vector<GitEntry> git_entries;
    Tools tools(draft);
    for (std::string_view name : writable_directories()) protection.keep_writable(draft.project / name);
    for (const Item& item : draft.policy().project.protect) {
        if (is_lifted(draft.policy(), item)) continue;
        Reason reason{reason_for("project/protect", "project.protect", item), item.origin};
        constexpr std::string_view kGitPrefix = ".git/";
        if (std::string_view(item.text).starts_with(kGitPrefix)) {
            git_entries.push_back({std::string_view(item.text).substr(kGitPrefix.size()), std::move(reason)});
        } else if (draft.plan.project_is_writable) {
            protection.protect(draft.project, item.text, reason,
                               when_missing(draft, protection.agents_files(), tools, item));
            add_existing(draft, item, reason);
            add_late_pattern(draft, item);
        }
    }
    bool is_planted_unread = draft.plan.project_is_writable && !git_entries.empty() &&
                             !draft.tree().look(draft.project / ".git") && !tools.needs_hold(".git");
    if (is_planted_unread)
        protection.protect(draft.project, ".git", {"a repository with hooks that git runs", {}},
                           WhenMissing::set_aside);
    add_git(draft, protection, git_entries, found);
}

// Whether a file can be covered while the session runs. Not with a set-uid bubblewrap, because the caller may
// not enter its namespaces, and not before Linux 5.8, which can't tell a mount point from another directory.
bool can_cover_later(const Draft& draft) {
    const host::Facts& facts = draft.inputs.facts;
    bool is_set_uid = draft.plan.backend == Backend::bwrap && facts.bwrap.is_setuid;
    return draft.backend().has_namespaces && !is_set_uid && host::is_kernel_at_least(facts.kernel, 5, 8);
}

// The other backends state in their levels that protected paths are not held.
void note_uncoverable(Draft& draft) {
    const Backend backend = draft.plan.backend;
    const std::string& kernel = draft.inputs.facts.kernel;
    bool is_held = backend == Backend::native || backend == Backend::bwrap;
    if (!is_held || host::is_kernel_at_least(kernel, 5, 8)) return;
    draft.note(NoteKind::protection,
               base::format("a masked or protected file that a program outside replaces is open inside until "
                            "the session ends: kernel {} (before 5.8) can't cover it again",
                            base::printable(kernel)));
}

Found search(Draft& draft) {
    Search& search = draft.plan.search;
    search.mask = draft.policy().project.mask;
    search.unmask = draft.policy().project.unmask;
    search.has_guard = can_cover_later(draft);
    if (!search.has_guard) note_uncoverable(draft);
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

// The example that belongs to a masked file: ".env.local.example" or ".env.example" for ".env.local".
std::optional<base::Path> example_of(const Draft& draft, const base::Path& masked) {
    constexpr std::string_view kEndings[] = {".example", ".sample", ".template", ".dist"};
    std::string_view name = masked.name();
    while (!name.empty()) {
        for (std::string_view ending : kEndings) {
            base::Path path = masked.parent() / (std::string(name) + std::string(ending));
            std::optional<host::Node> node = draft.tree().look(path);
            // A link could lead to a file that is hidden.
            if (node && node->kind == host::Kind::file) return path;
        }
        const size_t dot = name.rfind('.');
        if (dot == 0 || dot == std::string_view::npos) return std::nullopt;
        name = name.substr(0, dot);
    }
    return std::nullopt;
}

// project.mask_with = "example". The file is covered by a copy, made at the start.
void show_example(Draft& draft, const base::Path& masked) {
    constexpr size_t kLargestExample = 64u << 10;
    bool is_wanted = draft.policy().project.mask_with == policy::MaskWith::example;
    bool can_mount = draft.plan.backend == Backend::native || draft.plan.backend == Backend::bwrap;
    if (!is_wanted || !can_mount) return;
    std::optional<host::Node> node = draft.tree().look(masked);
    std::optional<base::Path> example = example_of(draft, masked);
    if (!example || !node || node->kind != host::Kind::file) return;
    bool is_masked = masking_entry(draft.policy().project.mask, draft.policy().project.unmask,
                                   example->relative_to(draft.project), example->name()) != nullptr;
    base::Result<std::string> content = draft.tree().read(*example, kLargestExample);
    if (is_masked || !content) return;
    draft.after_rules.push_back(Mount{.kind = MountKind::file,
                                      .target = masked,
                                      .source = *std::move(content),
                                      .reason = {"masked: shows " + std::string(example->name()), {}}});
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
    for (const base::Path& path : crowds.single) {
        draft.add_rule(path, Access::masked, std::move(masks.at(path)));
        show_example(draft, path);
    }
    draft.plan.search.masked = masks.size();
    return base::success();
}

}  // namespace

base::Status add_project(Draft& draft) {
    const auto& project = draft.policy().project;
    draft.plan.project_is_writable = !project.read_only;
    draft.rules.add(PathRule{
        .path = draft.project,
        .access = project.read_only ? Access::readonly : Access::writable,
        .holds_name = draft.plan.is_layered,
        .reason = {project.read_only ? "the project, for reading" : "the project",
                   draft.plan.is_layered ? draft.policy().cow.enabled_origin : project.read_only_origin}});
    Found found = search(draft);
    Protection protection(draft);
    close_crowded_project(draft, found);
    if (base::Status masked = add_masked(draft, protection, found); !masked) return masked;
    if (draft.plan.is_layered && draft.policy().cow.protect == policy::CowProtect::apply) {
        show_git_below_layer(draft);
    } else {
        add_protected(draft, protection, found);
    }

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

// Names that a rule hides and that are missing at launch: the guard covers each when it appears
// (session/search/name_watch.h). Threat: without this, the jail could read a credential that is created
// outside while the session runs; tests/jail/late_names.bats.

namespace {

bool shows_host(const Draft& draft, const base::Path& directory) {
    const PathRule* rule = draft.rules.decide(directory);
    return rule != nullptr && rule->access >= Access::readonly && rule->backing == Backing::host;
}

void add(Draft& draft, const base::Path& path, Access access) {
    if (!shows_host(draft, path.parent())) return;
    draft.plan.search.late_names.push_back({path.parent(), std::string(path.name()), access});
}

}  // namespace

void add_late_names(Draft& draft) {
    if (!draft.plan.search.has_guard) return;
    draft.plan.search.home = draft.home;
    for (const PathRule& rule : draft.rules.sorted()) {
        bool is_closed = rule.access < Access::readonly && rule.backing == Backing::host;
        bool is_missing = is_closed && !rule.holds_name && !draft.tree().look(rule.path);
        if (is_missing) add(draft, rule.path, rule.access);
    }
    if (!draft.home_is_real) return;
    // Existing credentials have rules already.
    for (const config::DataRow& row : config::data_list("home/credentials")) {
        const base::Path path = draft.home / row.entry;
        bool is_pattern = base::has_wildcard(row.entry);
        if (is_pattern || !draft.tree().look(path)) add(draft, path, Access::hidden);
    }
}

}  // namespace plan
