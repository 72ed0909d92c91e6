// SPDX-License-Identifier: MIT
#include "plan/project/search_rules.h"

#include <algorithm>
#include <iterator>

#include "base/glob.h"

namespace plan {
namespace {

using config::Item;
using config::Layer;

// Files in these come from a registry, including ".env" fixtures, and the package manager must be able to
// remove them. A covered file can't be removed, so `npm ci` would fail.
constexpr std::string_view kPackages[] = {"node_modules", "site-packages", "__pycache__"};
constexpr std::string_view kOutputs[] = {".venv",  "venv",        ".tox",  "target",  "build",   "dist",
                                         ".cache", ".mypy_cache", ".next", ".gradle", ".direnv", "vendor"};

bool is_one_of(std::string_view name, const auto& names) {
    return std::ranges::find(names, name) != std::end(names);
}

// An entry with a slash is a path from the project's root. One without a slash matches a name anywhere.
bool matches_entry(const Item& item, std::string_view relative, std::string_view name) {
    bool is_path = item.text.find('/') != std::string::npos;
    return is_path ? base::matches_path(item.text, relative) : base::matches_name(item.text, name);
}

}  // namespace

TreeKind kind_of_tree(std::string_view name) {
    if (name == ".git") return TreeKind::git;
    if (is_one_of(name, kPackages)) return TreeKind::packages;
    return is_one_of(name, kOutputs) ? TreeKind::output : TreeKind::ordinary;
}

const Item* masking_entry(const policy::Items& mask, const policy::Items& unmask, std::string_view relative,
                          std::string_view name) {
    for (const Item& entry : mask) {
        if (!matches_entry(entry, relative, name)) continue;
        // The user's exception can't lift the administrator's mask.
        bool is_lifted = std::ranges::any_of(unmask, [&](const Item& lifting) {
            bool may_lift = entry.origin.layer != Layer::admin || lifting.origin.layer <= Layer::admin;
            return may_lift && matches_entry(lifting, relative, name);
        });
        if (!is_lifted) return &entry;
    }
    return nullptr;
}

}  // namespace plan
