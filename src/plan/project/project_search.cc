// SPDX-License-Identifier: MIT
#include "plan/project/project_search.h"

#include <algorithm>
#include <set>

#include "base/glob.h"
#include "plan/project/search_rules.h"

namespace plan {
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
