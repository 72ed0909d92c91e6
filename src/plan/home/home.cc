// SPDX-License-Identifier: MIT
// The home directory: an access mode, lists of what is shown and kept, and the credentials that no mode
// shows.
#include "plan/home/home.h"

#include <algorithm>

#include "base/encoding/sha256.h"
#include "base/path.h"
#include "base/text.h"
#include "config/data.h"
#include "plan/draft.h"
#include "plan/home/credentials.h"
#include "plan/home/filtered_files.h"
#include "plan/home/registry_files.h"
#include "plan/pins.h"

namespace plan {
namespace {

using config::Item;
using config::Layer;
using policy::HomeAccess;

void add_mode(Draft& draft) {
    const auto& home = draft.policy().home;
    switch (home.access) {
        case HomeAccess::tmpwrite:
            draft.plan.private_home = draft.home;
            draft.add_rule(
                draft.home, Access::writable,
                {"home.access = tmpwrite: an empty home that ends with the jail", home.access_origin},
                Backing::ephemeral);
            return;
        case HomeAccess::restricted:
            draft.add_rule(draft.home, Access::readonly,
                           {"home.access = restricted: listed files only", home.access_origin},
                           Backing::ephemeral);
            return;
        case HomeAccess::read:
            draft.add_rule(draft.home, Access::readonly, {"home.access = read", home.access_origin});
            return;
        case HomeAccess::write:
            // If its mode stopped the search for credentials, the jail must not be able to change the mode
            // back.
            draft.add_rule(draft.home, is_shut(draft, draft.home) ? Access::readonly : Access::writable,
                           {"home.access = write", home.access_origin});
            return;
    }
}

struct ListedIn {
    std::string_view data;  // in share/
    std::string_view setting;
};

// A listed path of the home directory. One that leaves the home directory through a link is refused if a
// person listed it, and skipped if it is built in.
base::Status add_entry(Draft& draft, const Item& item, Access access, const ListedIn& listed) {
    bool is_builtin = item.origin.layer == Layer::builtin;
    if (is_builtin && !draft.home_names.may_exist(item.text)) return base::success();
    const base::Path literal = draft.inputs.facts.identity.home / item.text;
    base::Result<host::Tree::Resolved> resolved = draft.tree().resolve(literal);
    if (!resolved) {
        if (is_builtin) return base::success();
        return base::Error{.what = resolved.error().what, .where = item.origin.describe()};
    }
    if (!resolved->path.is_within(draft.home)) {
        if (is_builtin) return base::success();
        return base::Error{
            .what = base::format("{} leaves the home directory through a link to {}",
                                 base::printable(literal.str()), base::printable(resolved->path.str())),
            .advice = "list the place it leads to under mounts." +
                      std::string(access == Access::writable ? "writable" : "readonly"),
            .where = item.origin.describe()};
    }
    if (resolved->path == draft.home) {
        return base::Error{.what = "the home directory itself can't be listed",
                           .advice = "set home.access to read or write",
                           .where = item.origin.describe()};
    }
    std::string why = reason_for(listed.data, listed.setting, item);
    if (!resolved->exists) {
        if (is_builtin) return base::success();
        if (access != Access::writable) {
            draft.note(NoteKind::information,
                       base::format("{}: {} does not exist and is not shown", item.origin.describe(),
                                    base::printable(literal.str())));
            return base::success();
        }
        draft.plan.new_directories.push_back(NewDirectory{resolved->path, {why, item.origin}});
    }
    draft.links.insert(draft.links.end(), resolved->links.begin(), resolved->links.end());
    draft.add_rule(resolved->path, access, {std::move(why), item.origin});
    return base::success();
}

void add_seeded(Draft& draft, const Item& item) {
    const base::Path literal = draft.inputs.facts.identity.home / item.text;
    base::Result<host::Tree::Resolved> resolved = draft.tree().resolve(literal);
    if (!resolved || !resolved->exists || leads_to_hidden(draft, *resolved)) return;
    base::Result<std::string> content = draft.tree().read(resolved->path, 1u << 20);
    if (!content) return;
    // On a file system of the jail's own the copy is an ordinary file, which programs may replace with
    // rename(2).
    bool is_ordinary = draft.policy().home.access == HomeAccess::tmpwrite;
    const base::Path target = is_ordinary ? draft.home / item.text : resolved->path;
    draft.after_rules.push_back(
        Mount{.kind = is_ordinary ? MountKind::file : MountKind::private_file,
              .target = target,
              .source = without_secrets(*content),
              .reason = {reason_for("home/seeded", "home.seeded", item), item.origin}});
}

// A copy without log-ins. The list of credentials hides some of these files themselves, and its rule stays:
// it holds for every other place that shows the file.
void add_registry_file(Draft& draft, const config::DataRow& row) {
    if (!draft.home_names.may_exist(row.entry)) return;
    const base::Path path = draft.home / row.entry;
    base::Result<host::Tree::Resolved> resolved = draft.tree().resolve(path);
    // Another file in its place would be copied through a link.
    if (!resolved || !resolved->exists || resolved->path != path) return;
    const PathRule* rule = draft.rules.decide(path);
    bool is_shown = rule != nullptr && rule->backing == Backing::host && rule->access != Access::hidden;
    if (is_shown || is_hidden_by_setting(draft, path)) return;
    base::Result<std::string> content = draft.tree().read(path, 1u << 20);
    std::optional<std::string> copy =
        content ? registry_settings(row.entry, *content) : std::optional<std::string>();
    if (!copy) return;
    bool is_ordinary = draft.policy().home.access == HomeAccess::tmpwrite;
    draft.after_rules.push_back(Mount{.kind = is_ordinary ? MountKind::file : MountKind::private_file,
                                      .target = path,
                                      .source = *std::move(copy),
                                      .reason = {std::string(row.reason) + ", without log-ins", {}}});
}

// Keeps the jail from creating a missing name: the launch makes a placeholder and mounts on it.
void hold_name(Draft& draft, const base::Path& path, Access access, const Reason& reason) {
    draft.plan.placeholders.push_back(Placeholder{path, reason});
    draft.rules.add(PathRule{.path = path, .access = access, .holds_name = true, .reason = reason});
}

bool leads_to_no_credential(Draft& draft, const host::Tree::Resolved& resolved, const Reason& reason) {
    if (may_be_credential(draft, resolved)) return false;
    const base::Path link = *link_to_credential(draft, resolved);
    draft.note(NoteKind::protection, base::format("{} ({}) is a symbolic link to {}, which is not hidden; {}",
                                                  base::printable(link.str()), reason.why,
                                                  base::printable(resolved.path.str()), how_to_remove(link)));
    return true;
}

void hide_matching(Draft& draft, const base::Path& pattern, const Reason& reason) {
    base::Result<host::Tree::Resolved> directory = draft.tree().resolve(pattern.parent());
    if (!directory) return;
    if (is_shut(draft, directory->path) && directory->path != draft.home) {
        draft.add_rule(directory->path, Access::hidden, reason);
    }
    for (const host::Entry& entry : draft.tree().list(directory->path)) {
        if (!base::matches_name(pattern.name(), entry.name)) continue;
        base::Result<host::Tree::Resolved> resolved = draft.tree().resolve(pattern.parent() / entry.name);
        if (!resolved || leads_to_no_credential(draft, *resolved, reason)) continue;
        draft.add_rule(resolved->path, Access::hidden, reason);
        keep_links(draft, *resolved, reason);
    }
}

// Credentials are hidden wherever they would otherwise be seen. In a writable home, the name of a missing
// credential directory (an entry with a slash at its end) is held: a created ~/.ssh/authorized_keys is as
// good as a key.
void add_credentials(Draft& draft) {
    const base::Path& home = draft.inputs.facts.identity.home;
    bool is_writable = draft.policy().home.access == HomeAccess::write;
    for (const config::DataRow& row : config::data_list("home/credentials")) {
        bool is_held = is_writable && row.entry.ends_with('/');
        if (!is_held && !draft.home_names.may_exist(row.entry)) continue;
        const Reason reason{std::string(row.reason), {}};
        if (!base::has_wildcard(row.entry)) {
            base::Result<host::Tree::Resolved> resolved = draft.tree().resolve(home / row.entry);
            if (!resolved || leads_to_no_credential(draft, *resolved, reason)) continue;
            bool could_be_made = is_held && !resolved->exists && draft.tree().look(resolved->path.parent());
            if (could_be_made) {
                hold_name(draft, resolved->path, Access::hidden, reason);
            } else {
                draft.add_rule(resolved->path, Access::hidden, reason);
            }
            keep_links(draft, *resolved, reason);
            continue;
        }
        hide_matching(draft, home / row.entry, reason);
    }
}

}  // namespace

bool leads_to_hidden(Draft& draft, const host::Tree::Resolved& resolved) {
    if (resolved.links.empty()) return false;
    const PathRule* rule = draft.rules.decide_unsettled(resolved.path);
    if (rule == nullptr || rule->access != Access::hidden) return false;
    draft.note(NoteKind::protection,
               base::format("{} is a link to {}, which is hidden ({}); it is not followed: remove the link",
                            base::printable(resolved.links.back().path.str()),
                            base::printable(resolved.path.str()), rule->reason.why));
    return true;
}

base::Status add_home(Draft& draft) {
    add_mode(draft);
    const auto& home = draft.policy().home;
    for (const Item& item : home.readonly) {
        // The built-in list adds nothing to a home that shows everything.
        if (draft.home_is_real && item.origin.layer == Layer::builtin) continue;
        base::Status added = add_entry(draft, item, Access::readonly, {"home/readonly", "home.readonly"});
        if (!added) return added;
    }
    for (const Item& item : home.writable) {
        // With per_project_state the profile's state has a directory for each project (agent.cc).
        if (draft.policy().agents.per_project_state && item.origin.layer == Layer::profile) continue;
        base::Status added = add_entry(draft, item, Access::writable, {"", "home.writable"});
        if (!added) return added;
    }
    add_credentials(draft);
    return base::success();
}

bool is_hidden_by_setting(const Draft& draft, const base::Path& path) {
    return std::ranges::any_of(draft.policy().mounts.hidden, [&](const Item& item) {
        base::Result<base::Path> hidden = absolute_entry(draft, item);
        if (!hidden) return false;
        base::Result<host::Tree::Resolved> resolved = draft.tree().resolve(*hidden);
        return resolved && path.is_within(resolved->path);
    });
}

void add_seeded_files(Draft& draft) {
    if (!draft.home_is_real) {
        for (const config::DataRow& row : config::data_list("home/registries")) add_registry_file(draft, row);
    }
    for (const Item& item : draft.policy().home.seeded) {
        const PathRule* rule = draft.rules.decide(draft.home / item.text);
        bool is_closed = rule != nullptr && rule->access == Access::hidden;
        if (!is_closed) add_seeded(draft, item);
    }
}

namespace {

const host::Entry* find_name(const std::vector<host::Entry>& entries, std::string_view name) {
    auto found = std::ranges::lower_bound(
        entries, name, {}, [](const host::Entry& entry) -> std::string_view { return entry.name; });
    return found != entries.end() && found->name == name ? &*found : nullptr;
}

}  // namespace

bool HomeNames::may_exist(std::string_view relative) const {
    size_t slash = relative.find('/');
    std::string_view first = relative.substr(0, slash);
    if (base::has_wildcard(first)) return true;
    if (names_ == nullptr) names_ = &tree_.list(home_);
    const host::Entry* entry = find_name(*names_, first);
    if (entry == nullptr) return false;
    if (slash == std::string_view::npos) return true;
    std::string_view rest = relative.substr(slash + 1);
    std::string_view second = rest.substr(0, rest.find('/'));
    // A link leads elsewhere: then the caller has to resolve the path.
    if (second.empty() || entry->kind != host::Kind::directory || base::has_wildcard(second)) return true;
    const std::vector<host::Entry>& entries = tree_.list(home_ / first);
    // An empty list may mean that the directory's mode keeps the caller out, and the jail could change the
    // mode.
    return entries.empty() || find_name(entries, second) != nullptr;
}

// Caches that are kept from session to session, for this project alone. Threat: with a shared cache one
// project could change what another project, or a program outside, runs later. A cache that is discarded each
// time makes people turn the jail off.

namespace {

// Do not create a cache for a tool that the user has never used.
bool is_used(const Draft& draft, const base::Path& target) {
    if (target.parent() != draft.home) return draft.tree().look(target.parent()).has_value();
    return target.name() == ".cache" || draft.tree().look(target).has_value();
}

// A path that a setting lists keeps the access that the setting gives it.
bool is_listed(const Draft& draft, const base::Path& target) {
    const PathRule* rule = draft.rules.decide(target);
    return rule != nullptr && rule->path == target && rule->reason.origin.layer != config::Layer::builtin;
}

}  // namespace

void add_caches(Draft& draft) {
    // A home directory that is shown as it is has the user's own caches.
    if (draft.home_is_real || !draft.policy().home.caches) return;
    const base::Path kept =
        draft.state_directory() / "caches" / base::sha256(draft.project.str()).substr(0, 16);
    for (const config::DataRow& row : config::data_list("home/caches")) {
        const base::Path target = draft.home / row.entry;
        bool meets_project = target.is_within(draft.project) || draft.project.is_within(target);
        if (meets_project || !is_used(draft, target) || is_listed(draft, target)) continue;
        const Reason reason{"cache of this project alone: " + std::string(row.reason),
                            draft.policy().home.caches_origin};
        // A cache in a directory that is shown as it is (~/go) needs a mount point there.
        const PathRule* around = draft.rules.decide(target);
        bool is_on_host = around != nullptr && around->backing == Backing::host;
        if (is_on_host && !draft.tree().look(target))
            draft.plan.placeholders.push_back(Placeholder{target, reason, {}});
        const base::Path own = kept / row.entry;
        draft.plan.new_directories.push_back({own, reason});
        draft.caches.push_back(
            Mount{.kind = MountKind::bind_writable, .target = target, .source = own.str(), .reason = reason});
        draft.extra_writable.push_back(target);
    }
}

}  // namespace plan
