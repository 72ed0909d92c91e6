// SPDX-License-Identifier: MIT
#include "plan/project/project_search.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "base/backend.h"
#include "base/path.h"

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

namespace {

// The directory directly below the project that contains the path; the path itself if the project contains it
// directly.
base::Path top_of(const base::Path& project, const base::Path& path) {
    std::string_view relative = path.relative_to(project);
    return project / relative.substr(0, relative.find('/'));
}

}  // namespace

size_t most_covered_singly(base::Backend backend) {
    return backend == base::Backend::native ? 3000 : 1000;
}

// Two mounts each: the ".git" and the directory that holds it.
size_t most_repositories(base::Backend backend) {
    return most_covered_singly(backend) / 2;
}

Crowds find_crowds(const base::Path& project, std::vector<base::Path> paths, size_t most) {
    Crowds crowds;
    if (paths.size() <= most) {
        crowds.single = std::move(paths);
        return crowds;
    }
    std::map<base::Path, size_t> held;
    for (const base::Path& path : paths) ++held[top_of(project, path)];
    for (const auto& [directory, count] : held) {
        if (count > 1) crowds.directories.push_back({directory, count});
    }
    std::ranges::stable_sort(crowds.directories, std::ranges::greater(), &Crowds::Directory::held);
    size_t left = paths.size();
    auto end = crowds.directories.begin();
    while (left > most && end != crowds.directories.end()) left -= end++->held;
    crowds.directories.erase(end, crowds.directories.end());
    for (base::Path& path : paths) {
        bool is_held = std::ranges::any_of(
            crowds.directories, [&](const Crowds::Directory& one) { return path.is_within(one.path); });
        if (!is_held) crowds.single.push_back(std::move(path));
    }
    return crowds;
}

namespace {

using config::Item;

class ProjectSearch {
  public:
    ProjectSearch(const host::Tree& tree, const base::Path& project, const Search& rules,
                  const SearchBounds& bounds)
        : tree_(tree), project_(project), rules_(rules), bounds_(bounds) {}

    // Threat: the list of an earlier session may name anything by now: a missing path, a path behind a link,
    // or a file that no rule masks any more.
    void check_known(std::span<const std::string> known) {
        for (const std::string& relative : known) {
            const base::Path path = project_ / relative;
            if (!path.is_strictly_within(project_) || !tree_.glance(path)) continue;
            if (path.name() == ".git") {
                base::Result<host::Tree::Resolved> directory = tree_.resolve(path.parent());
                bool is_real = directory && directory->path == path.parent() && path.parent() != project_;
                if (is_real) found_.nested_repositories.push_back(path.parent());
            } else {
                add_masked(path);
            }
        }
    }

    void walk() {
        std::vector<base::Path> level{project_};
        for (size_t depth = 0; !level.empty(); ++depth) {
            std::vector<base::Path> next;
            for (const base::Path& directory : level) {
                if (is_over()) break;
                visit(directory, depth, next);
            }
            if (!found_.is_complete) break;
            level = std::move(next);
        }
        // Threat: a project root with millions of planted names is not read to its end.
        if (!found_.is_complete) look_for_names_in_root();
    }

    // The walk finds a known path a second time: remove duplicates.
    Found take() {
        std::set<base::Path> seen;
        std::erase_if(found_.masked, [&](const auto& one) { return !seen.insert(one.first).second; });
        seen.clear();
        std::erase_if(found_.nested_repositories,
                      [&](const base::Path& one) { return !seen.insert(one).second; });
        return std::move(found_);
    }

  private:
    static constexpr size_t kBetweenQuestions = 256;  // entries of one directory

    bool is_over() {
        if (bounds_.is_over && bounds_.is_over()) found_.is_complete = false;
        return !found_.is_complete;
    }

    void visit(const base::Path& directory, size_t depth, std::vector<base::Path>& next) {
        size_t seen = 0;
        bool is_listed = tree_.visit(directory, [&](const host::Entry& entry) {
            if (++seen % kBetweenQuestions == 0 && is_over()) return false;
            add(directory, entry, depth, next);
            return true;
        });
        if (!is_listed) {
            found_.unlisted.push_back(directory);
        } else if (seen == 0 && directory != project_) {
            found_.without_entries.push_back(directory);
        }
    }

    void add(const base::Path& directory, const host::Entry& entry, size_t depth,
             std::vector<base::Path>& next) {
        const TreeKind kind = kind_of_tree(entry.name);
        if (kind == TreeKind::git && directory != project_) found_.nested_repositories.push_back(directory);
        bool is_left_out = kind == TreeKind::git || kind == TreeKind::packages ||
                           (kind == TreeKind::output && bounds_.has_guard);
        if (is_left_out) return;
        const base::Path path = directory / entry.name;
        if (add_masked(path) || entry.kind != host::Kind::directory) return;
        bool is_too_deep = depth + 1 >= kDeepestSearched || path.str().size() >= kLongestSearched;
        (is_too_deep ? found_.too_deep : next).push_back(path);
    }

    bool add_masked(const base::Path& path) {
        const Item* mask = masking_entry(rules_.mask, rules_.unmask, path.relative_to(project_), path.name());
        if (mask != nullptr) found_.masked.emplace_back(path, *mask);
        return mask != nullptr;
    }

    void look_for_names_in_root() {
        for (const Item& mask : rules_.mask) {
            bool is_plain = !base::has_wildcard(mask.text);
            if (is_plain && tree_.glance(project_ / mask.text)) add_masked(project_ / mask.text);
        }
    }

    const host::Tree& tree_;
    const base::Path& project_;
    const Search& rules_;
    const SearchBounds& bounds_;
    Found found_;
};

}  // namespace

Found search_project(const host::Tree& tree, const base::Path& project, const Search& rules,
                     std::span<const std::string> known, const SearchBounds& bounds) {
    ProjectSearch search(tree, project, rules, bounds);
    search.check_known(known);
    search.walk();
    return search.take();
}

}  // namespace plan
