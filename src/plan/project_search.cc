// SPDX-License-Identifier: MIT
#include "plan/project_search.h"

#include <algorithm>
#include <string_view>

#include "base/glob.h"

namespace plan {
namespace {

using config::Item;
using config::Layer;

// Trees that are made by tools, large, and never hold a person's .env.
constexpr std::string_view kSkipped[] = {
    ".git", "node_modules", ".venv",       "venv",          "__pycache__", ".tox",    "target",  "build",
    "dist", ".cache",       ".mypy_cache", "site-packages", ".next",       ".gradle", ".direnv", "vendor"};

// An entry with a slash is a path from the project's root, one without matches a name anywhere.
bool matches_entry(const Item& item, std::string_view relative, std::string_view name) {
    bool is_path = item.text.find('/') != std::string::npos;
    return is_path ? base::matches_path(item.text, relative) : base::matches_name(item.text, name);
}

const Item* masking_entry(const policy::Policy& policy, std::string_view relative, std::string_view name) {
    for (const Item& mask : policy.project.mask) {
        if (!matches_entry(mask, relative, name)) continue;
        // An exception of the user's can't lift a mask of the administrator's.
        bool is_lifted = std::ranges::any_of(policy.project.unmask, [&](const Item& unmask) {
            bool may_lift = mask.origin.layer != Layer::admin || unmask.origin.layer <= Layer::admin;
            return may_lift && matches_entry(unmask, relative, name);
        });
        if (!is_lifted) return &mask;
    }
    return nullptr;
}

}  // namespace

Found search_project(const host::Tree& tree, const base::Path& project, const policy::Policy& policy,
                     const SearchLimits& limits) {
    Found found;
    size_t seen = 0;
    std::vector<base::Path> level{project};
    for (size_t depth = 0; !level.empty(); ++depth) {
        if (depth >= limits.depth) {
            found.is_complete = false;
            return found;
        }
        std::vector<base::Path> next;
        for (const base::Path& directory : level) {
            for (const host::Entry& entry : tree.list(directory)) {
                if (++seen > limits.entries) {
                    found.is_complete = false;
                    return found;
                }
                const base::Path path = directory / entry.name;
                if (entry.name == ".git" && directory != project)
                    found.nested_repositories.push_back(directory);
                bool is_skipped = std::ranges::find(kSkipped, entry.name) != std::end(kSkipped);
                if (is_skipped) continue;
                const Item* mask = masking_entry(policy, path.relative_to(project), entry.name);
                if (mask != nullptr) {
                    found.masked.emplace_back(path, *mask);
                } else if (entry.kind == host::Kind::directory) {
                    next.push_back(path);
                }
            }
        }
        level = std::move(next);
    }
    return found;
}

}  // namespace plan
