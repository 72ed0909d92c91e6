// SPDX-License-Identifier: MIT
#include "plan/project/git.h"

#include "base/text.h"
#include "plan/project/git_config.h"

namespace plan {
namespace {

constexpr size_t kSmallFile = 64u << 10;
constexpr size_t kMostSubmodules = 200;
constexpr size_t kMostWorktrees = 200;
constexpr size_t kMostModules = 2000;  // that are looked at below "modules"
constexpr size_t kDeepest = 16;        // below "modules"

std::optional<base::Path> physical(const host::Tree& tree, const base::Path& path) {
    base::Result<host::Tree::Resolved> resolved = tree.resolve(path);
    if (!resolved || !resolved->exists) return std::nullopt;
    return resolved->path;
}

// A file that holds one path, absolute or relative to `from`.
std::optional<base::Path> path_in_file(const host::Tree& tree, const base::Path& file,
                                       std::string_view prefix, const base::Path& from) {
    base::Result<std::string> content = tree.read(file, kSmallFile);
    if (!content) return std::nullopt;
    std::string_view text = base::trim(*content);
    if (!text.starts_with(prefix)) return std::nullopt;
    text = base::trim(text.substr(prefix.size()));
    if (text.empty() || text.find('\n') != std::string_view::npos ||
        text.find('\0') != std::string_view::npos) {
        return std::nullopt;
    }
    return physical(tree, text.front() == '/' ? base::Path::known("/") / text : from / text);
}

bool is_repository(const host::Tree& tree, const base::Path& directory) {
    for (std::string_view name : {"HEAD", "objects", "refs"}) {
        if (!tree.look(directory / name)) return false;
    }
    return true;
}

// Repositories below `modules`, with a bound on the search: a project may contain an endless directory tree.
class Submodules {
  public:
    Submodules(const host::Tree& tree, GitPlaces& places) : tree_(tree), places_(places) {}

    void add(const base::Path& modules) {
        std::optional<host::Node> node = tree_.look(modules);
        if (!node) return;
        if (node->kind != host::Kind::directory) {
            places_.has_all_submodules = false;
            return;
        }
        add_below(modules, 0);
    }

  private:
    // Names of submodules may hold slashes: look into each directory that does not hold a repository.
    void add_below(const base::Path& modules, size_t depth) {
        for (const host::Entry& entry : tree_.list(modules)) {
            if (entry.kind == host::Kind::file) continue;
            bool is_too_much = ++looked_at_ > kMostModules || depth >= kDeepest ||
                               places_.submodules.size() >= kMostSubmodules;
            if (is_too_much || entry.kind == host::Kind::symlink) places_.has_all_submodules = false;
            if (is_too_much) return;
            if (entry.kind != host::Kind::directory) continue;
            base::Path directory = modules / entry.name;
            if (tree_.look(directory / "config") || tree_.look(directory / "HEAD")) {
                places_.submodules.push_back(directory);
                add_nested(directory / "modules", depth + 1);
            } else {
                add_below(directory, depth + 1);
            }
        }
    }

    void add_nested(const base::Path& modules, size_t depth) {
        std::optional<host::Node> node = tree_.look(modules);
        if (node && node->kind == host::Kind::symlink) places_.has_all_submodules = false;
        if (node && node->kind == host::Kind::directory) add_below(modules, depth);
    }

    const host::Tree& tree_;
    GitPlaces& places_;
    size_t looked_at_ = 0;
};

void add_worktrees(const host::Tree& tree, Submodules& submodules, GitPlaces& places) {
    const base::Path worktrees = places.common / "worktrees";
    std::optional<host::Node> node = tree.look(worktrees);
    if (!node) return;
    if (node->kind != host::Kind::directory) {
        places.has_all_worktrees = false;
        return;
    }
    for (const host::Entry& entry : tree.list(worktrees)) {
        bool is_too_much = places.worktrees.size() >= kMostWorktrees;
        if (is_too_much || entry.kind == host::Kind::symlink) places.has_all_worktrees = false;
        if (is_too_much) return;
        if (entry.kind != host::Kind::directory) continue;
        places.worktrees.push_back(worktrees / entry.name);
        submodules.add(places.worktrees.back() / "modules");
    }
}

// Whether git would read objects, hooks and configuration from another directory.
bool leads_elsewhere(const host::Tree& tree, const base::Path& directory) {
    if (!tree.look(directory / "commondir")) return false;
    return path_in_file(tree, directory / "commondir", "", directory) != directory;
}

std::optional<GitPlaces> from_link(const host::Tree& tree, const base::Path& working_tree,
                                   const base::Path& link) {
    std::optional<base::Path> directory = path_in_file(tree, link, "gitdir:", working_tree);
    if (!directory) return std::nullopt;
    GitPlaces places{.link = link, .directory = *directory, .common = *directory};
    std::optional<base::Path> common = path_in_file(tree, *directory / "commondir", "", *directory);
    if (common && *common != *directory) {
        std::optional<base::Path> back = path_in_file(tree, *directory / "gitdir", "", *directory);
        bool is_worktree =
            back == link && directory->parent() == *common / "worktrees" && is_repository(tree, *common);
        if (!is_worktree) return std::nullopt;
        places.common = *common;
        return places;
    }
    bool is_submodule = is_repository(tree, *directory) && working_tree_of(tree, *directory) == working_tree;
    if (!is_submodule) return std::nullopt;
    return places;
}

}  // namespace

std::optional<GitPlaces> find_git(const host::Tree& tree, const base::Path& working_tree) {
    const base::Path dot_git = working_tree / ".git";
    std::optional<host::Node> node = tree.look(dot_git);
    if (!node) return std::nullopt;
    std::optional<GitPlaces> places;
    if (node->kind == host::Kind::directory && !leads_elsewhere(tree, dot_git)) {
        places = GitPlaces{.directory = dot_git, .common = dot_git};
    } else if (node->kind == host::Kind::file) {
        places = from_link(tree, working_tree, dot_git);
    }
    if (!places) return std::nullopt;
    Submodules submodules(tree, *places);
    submodules.add(places->common / "modules");
    add_worktrees(tree, submodules, *places);
    return places;
}

std::optional<base::Path> working_tree_of(const host::Tree& tree, const base::Path& repository) {
    base::Result<std::string> config = tree.read(repository / "config", 1u << 20);
    if (!config) return std::nullopt;
    for (const GitSetting& setting : parse_git_config(*config)) {
        if (setting.key != "core.worktree" || setting.value.empty()) continue;
        return physical(
            tree, setting.value.front() == '/' ? base::Path() / setting.value : repository / setting.value);
    }
    return std::nullopt;
}

}  // namespace plan
