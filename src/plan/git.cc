// SPDX-License-Identifier: MIT
#include "plan/git.h"

#include "base/text.h"
#include "plan/git_config.h"

namespace plan {
namespace {

constexpr size_t kSmallFile = 64u << 10;
constexpr size_t kMostSubmodules = 200;
constexpr size_t kDeepest = 64;

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

void add_submodules(const host::Tree& tree, const base::Path& modules, GitPlaces& places) {
    // Names of submodules may hold slashes: a directory that is no repository is looked into.
    for (const host::Entry& entry : tree.list(modules)) {
        if (entry.kind != host::Kind::directory) continue;
        if (places.submodules.size() >= kMostSubmodules || modules.depth() >= kDeepest) {
            places.is_complete = false;
            return;
        }
        base::Path directory = modules / entry.name;
        if (tree.look(directory / "config") || tree.look(directory / "HEAD")) {
            places.submodules.push_back(directory);
            add_submodules(tree, directory / "modules", places);
        } else {
            add_submodules(tree, directory, places);
        }
    }
}

// Git would take objects, hooks and configuration from elsewhere.
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
    add_submodules(tree, places->common / "modules", *places);
    for (const host::Entry& entry : tree.list(places->common / "worktrees")) {
        if (entry.kind != host::Kind::directory) continue;
        places->worktrees.push_back(places->common / "worktrees" / entry.name);
        add_submodules(tree, places->worktrees.back() / "modules", *places);
    }
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
