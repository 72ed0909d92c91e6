// SPDX-License-Identifier: MIT
#include "plan/project/protection.h"

#include <algorithm>

#include "base/inside/jail_files.h"
#include "base/path.h"
#include "base/text.h"
#include "plan/pins.h"
#include "plan/project/git.h"

namespace plan {
namespace {

std::optional<std::string> content_of(WhenMissing missing) {
    switch (missing) {
        case WhenMissing::leave:
        case WhenMissing::set_aside:
        case WhenMissing::hold_with_directory:
            return std::nullopt;
        case WhenMissing::hold_with_empty_file:
            return "";
        case WhenMissing::hold_with_dot:
            return ".\n";
        case WhenMissing::hold_with_object:
            return "{}\n";
    }
    return std::nullopt;
}

// A configuration that a session wrote may name anything. A path that the kernel refuses can't be created.
bool can_exist(const base::Path& path) {
    constexpr size_t kLongestName = 255, kLongestPath = 4095;
    if (path.str().size() > kLongestPath) return false;
    return std::ranges::all_of(base::split(path.str(), '/'),
                               [](std::string_view name) { return name.size() <= kLongestName; });
}

}  // namespace

void Protection::protect(const base::Path& root, std::string_view relative, const Reason& reason,
                         WhenMissing missing) {
    const base::Path path = root / relative;
    if (!can_exist(path)) return;
    bool is_pattern = base::has_wildcard(path.name());
    const base::Path last = is_pattern ? path.parent() : path;
    base::Path place = root;
    for (std::string_view component : base::split(last.relative_to(root), '/')) {
        if (component.empty()) break;
        place = place / component;
        std::optional<host::Node> node = draft_.tree().look(place);
        if (node && node->kind == host::Kind::symlink)
            return follow_link({place, path, false}, reason, missing);
        bool is_left = !node && missing == WhenMissing::set_aside && path.is_within(draft_.project);
        if (is_left) return draft_.plan.unheld_names.push_back({path, reason, place});
        // A missing component before the last is a directory, and so is a placeholder of another session.
        bool is_as_asked =
            missing == WhenMissing::leave || (place == path && missing != WhenMissing::set_aside);
        WhenMissing here = is_as_asked ? missing : WhenMissing::hold_with_directory;
        bool is_open = place != path && writable_.contains(place);
        bool is_held = !is_pattern && !is_open && here != WhenMissing::leave &&
                       (!node || may_be_placeholder(place, *node, here));
        if (is_held) return hold(place, reason, here);
        if (!node && is_open) continue;
        if (!node) return;
        // A file where the path needs a directory: the jail must not replace the file by a directory.
        if (place != path && node->kind != host::Kind::directory) return protect_existing(place, reason);
    }
    if (is_pattern) return protect_matching(path, reason);
    protect_existing(path, reason);
}

bool Protection::is_set_aside(const base::Path& path) const {
    return std::ranges::any_of(draft_.plan.unheld_names, [&](const UnheldName& name) {
        return name.path == path && name.first_missing;
    });
}

base::Path Protection::nearest_existing(const base::Path& directory) const {
    base::Path nearest = directory;
    while (writable_.contains(nearest) && !draft_.tree().look(nearest)) nearest = nearest.parent();
    return nearest;
}

void Protection::protect_named(const base::Path& root, std::string_view relative, const Reason& reason,
                               WhenMissing missing) {
    may_refuse_ = false;
    protect(root, relative, reason, missing);
    may_refuse_ = true;
}

// Another session may have created this placeholder and will remove it when it ends. Treat it like a missing
// one.
bool Protection::may_be_placeholder(const base::Path& path, const host::Node& node,
                                    WhenMissing missing) const {
    if (node.kind == host::Kind::directory) return draft_.tree().list(path).empty();
    if (node.kind == host::Kind::file && path.name() == base::kSpareConfig) return true;
    std::optional<std::string> content = content_of(missing);
    if (node.kind != host::Kind::file || !content) return false;
    base::Result<std::string> found = draft_.tree().read(path, 64);
    return found && *found == *content;
}

void Protection::protect_matching(const base::Path& pattern, const Reason& reason) {
    const base::Path directory = pattern.parent();
    const std::string_view wanted = pattern.name();
    const std::string_view prefix = wanted.substr(0, wanted.find_first_of("*?"));
    const std::vector<host::Entry>& entries = draft_.tree().list(directory);
    auto name_of = [](const host::Entry& entry) -> std::string_view { return entry.name; };
    // Names are sorted: those with the same prefix are adjacent.
    for (auto next = std::ranges::lower_bound(entries, prefix, {}, name_of);
         next != entries.end() && next->name.starts_with(prefix); ++next) {
        const host::Entry& entry = *next;
        if (!base::matches_name(wanted, entry.name)) continue;
        const base::Path path = directory / entry.name;
        if (entry.kind == host::Kind::symlink) {
            follow_link({path, path, true}, reason, WhenMissing::hold_with_directory);
        } else {
            protect_existing(path, reason);
        }
    }
}

void Protection::protect_existing(const base::Path& path, const Reason& reason) {
    draft_.rules.add(
        PathRule{.path = path, .access = Access::readonly, .holds_name = true, .reason = reason});
}

void Protection::pin(const base::Path& path) {
    draft_.rules.add(PathRule{.path = path,
                              .access = Access::writable,
                              .holds_name = true,
                              .reason = {"holds a protected path and can't be renamed aside", {}}});
}

void Protection::make_directory(const base::Path& path, const Reason& reason) {
    pin(path);
    writable_.insert(path);
    draft_.plan.placeholders.push_back({path, reason, std::nullopt});
}

base::Status Protection::status() const {
    if (problem_) return *problem_;
    return base::success();
}

void Protection::hold(const base::Path& path, const Reason& reason, WhenMissing missing) {
    const base::Path directory = nearest_existing(path.parent());
    if (!draft_.tree().may_write(directory)) {
        // Another user's directory stays as it is. In the caller's own, the jail could create the name after
        // a chmod.
        std::optional<host::Node> node = draft_.tree().look(directory);
        // If the owner has these bits, the reason is another one: a read-only file system, or the directory
        // was just removed.
        constexpr uint32_t kOwnerMakes = 0300;
        bool is_shut_by_mode = node && node->owner == draft_.inputs.facts.identity.uid &&
                               (node->mode & kOwnerMakes) != kOwnerMakes;
        if (is_shut_by_mode && is_in_jails_hand(draft_, directory)) close(directory, reason);
        return;
    }
    if (is_private(path, missing)) {
        draft_.rules.add(PathRule{.path = path,
                                  .access = Access::writable,
                                  .backing = Backing::ephemeral,
                                  .holds_name = true,
                                  .reason = reason});
    } else {
        protect_existing(path, reason);
    }
    auto same = [&](const Placeholder& known) { return known.path == path; };
    if (std::ranges::none_of(draft_.plan.placeholders, same)) {
        draft_.plan.placeholders.push_back({path, reason, content_of(missing)});
    }
}

void Protection::close(const base::Path& directory, const Reason& reason) {
    if (!closed_.insert(directory).second) return;
    protect_existing(directory, reason);
    draft_.note(NoteKind::protection,
                base::printable(directory.str()) +
                    " is read-only in the jail: its mode keeps what is hidden or protected in it from being "
                    "covered; 'chmod u+rwx' it outside to change that");
}

// An agent that writes its own files into a directory of the project may exit if the directory is read-only.
// It gets an empty writable one that is discarded with the session.
bool Protection::is_private(const base::Path& path, WhenMissing missing) const {
    if (path == draft_.project || missing != WhenMissing::hold_with_directory) return false;
    return std::ranges::any_of(
        agents_files_, [&](std::string_view file) { return (draft_.project / file).parent() == path; });
}

// Protects the target of a link, if the jail could change it, and the links themselves.
void Protection::follow_link(const LinkOnTheWay& way, const Reason& reason, WhenMissing missing) {
    if (!draft_.backend().holds_links) close_around(way, reason);
    base::Result<host::Tree::Resolved> resolved = draft_.tree().resolve(way.path);
    if (!resolved) {
        // A loop resolves to nothing as long as its links exist.
        draft_.kept_links.push_back({way.link, reason});
        return;
    }
    keep_links(draft_, *resolved, reason);
    const base::Path& place = resolved->path;
    bool is_project = draft_.project.is_within(place);
    if (is_project || !is_in_jails_hand(draft_, place)) return;
    const base::Path root = place.is_within(draft_.project) ? draft_.project : base::Path();
    protect(root, place.relative_to(root), reason, missing);
}

void Protection::close_around(const LinkOnTheWay& way, const Reason& reason) {
    const base::Path directory = way.link.parent();
    // Where the backend can't protect paths at all, the plan reports that once for all of them.
    if (way.is_matched || !draft_.backend().has_view || problem_) return;
    if (directory != draft_.project) {
        protect_existing(directory, reason);
        draft_.note(NoteKind::protection,
                    base::format("{} is read-only: {} in it is a symbolic link that {} can't hold; replace "
                                 "it by what it leads to, or use --backend native",
                                 base::printable(directory.str()), way.link.name(), draft_.backend().title));
        return;
    }
    if (!may_refuse_) return;
    problem_ =
        base::Error{.what = base::format("{} is a symbolic link, and {} can't protect one ({})",
                                         base::printable(way.link.str()), draft_.backend().title, reason.why),
                    .advice =
                        "replace it by what it leads to, use --backend native, name it in "
                        "project.unprotect, or use --read-only",
                    .where = reason.origin.layer == config::Layer::builtin ? "" : reason.origin.describe()};
}

namespace {

using Components = std::vector<std::string_view>;

constexpr std::string_view kGit = ".git";

base::Path first(const Components& components, size_t count) {
    base::Path path;
    for (size_t i = 0; i < count; ++i) path = path / components[i];
    return path;
}

// How many parts of the entry match the components from `begin` on.
size_t matching(const Components& components, size_t begin, const Components& parts) {
    size_t count = 0;
    while (count < parts.size() && begin + count < components.size() &&
           base::matches_name(parts[count], components[begin + count]))
        ++count;
    return count;
}

// The names in the built-in list that can be directories begin with a dot.
bool needs_search(const Draft& draft, const Components& components) {
    auto has_dot = [](std::string_view name) { return name.starts_with('.'); };
    auto is_users = [](const config::Item& item) { return item.origin.layer != config::Layer::builtin; };
    return std::ranges::any_of(components, has_dot) ||
           std::ranges::any_of(draft.policy().project.protect, is_users);
}

// The component where the real project ends, with the length of the protected path; nothing where the entry
// has no part in the project's path. Everything in ".git" is git's, whatever the entry is.
std::optional<ProtectedPlace> place_of(const Draft& draft, const Components& components,
                                       const config::Item& item) {
    const Components parts = base::split(item.text, '/');
    if (item.text == kBareHead) return std::nullopt;  // a directory of this name means nothing
    for (size_t begin = 1; begin < components.size(); ++begin) {
        size_t count = matching(components, begin, parts);
        bool is_whole = count == parts.size() || parts.front() == kGit;
        bool is_above = begin + count == components.size();
        if (count == 0 || (!is_whole && !is_above)) continue;
        const base::Path root = first(components, begin);
        // The home directory is not a project: what runs in it is on another list (share/home/start_up.list).
        if (draft.home.is_within(root) && parts.front() != kGit) continue;
        return ProtectedPlace{root, first(components, begin + count),
                              reason_for("project/protect", "project.protect", item)};
    }
    return std::nullopt;
}

}  // namespace

bool is_lifted(const policy::Policy& policy, const config::Item& item) {
    if (item.origin.layer == config::Layer::admin) return false;
    return std::ranges::any_of(policy.project.unprotect, [&](const config::Item& lifted) {
        return lifted.text == item.text || base::matches_path(lifted.text, item.text) ||
               std::string_view(item.text).starts_with(lifted.text + "/");
    });
}

std::optional<ProtectedPlace> protected_place(const Draft& draft) {
    const Components components = draft.project.components();
    if (draft.policy().project.read_only || !needs_search(draft, components)) return std::nullopt;
    for (const config::Item& item : draft.policy().project.protect) {
        std::optional<ProtectedPlace> place = place_of(draft, components, item);
        if (!place || is_lifted(draft.policy(), item)) continue;
        bool is_other_project = draft.tree().look(draft.project / kGit).has_value();
        return is_other_project ? std::nullopt : place;
    }
    return std::nullopt;
}

bool is_bare_repository(const Draft& draft) {
    auto is_protected = [&](const config::Item& item) {
        return item.text.starts_with(".git/") && !is_lifted(draft.policy(), item);
    };
    auto is_there = [&](std::string_view name) {
        return draft.tree().look(draft.project / name).has_value();
    };
    // In the directory that "commondir" names, git finds the rest.
    const bool has_rest = is_there("commondir") || (is_there("objects") && is_there("refs"));
    return !draft.policy().project.read_only && is_there(kBareHead) && has_rest && !is_there(kGit) &&
           std::ranges::any_of(draft.policy().project.protect, is_protected);
}

}  // namespace plan
