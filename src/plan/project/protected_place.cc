// SPDX-License-Identifier: MIT
#include "plan/project/protected_place.h"

#include <algorithm>

#include "base/glob.h"
#include "base/text.h"

namespace plan {
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
    return !draft.policy().project.read_only && is_there("HEAD") && is_there("objects") && is_there("refs") &&
           !is_there(kGit) && std::ranges::any_of(draft.policy().project.protect, is_protected);
}

}  // namespace plan
