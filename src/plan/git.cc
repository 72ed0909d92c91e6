// SPDX-License-Identifier: MIT
#include "plan/git.h"

#include "base/text.h"

namespace plan {
namespace {

constexpr size_t kSmallFile = 64u << 10;
constexpr size_t kMostSubmodules = 200;

std::optional<base::Path> physical(const host::Tree& tree, const base::Path& path) {
    base::Result<host::Tree::Resolved> resolved = tree.resolve(path);
    if (!resolved || !resolved->exists) return std::nullopt;
    return resolved->path;
}

// A file that holds one path, absolute or relative to `from`.
std::optional<base::Path> path_in_file(const host::Tree& tree, const base::Path& file, std::string_view prefix,
                                       const base::Path& from) {
    base::Result<std::string> content = tree.read(file, kSmallFile);
    if (!content) return std::nullopt;
    std::string_view text = base::trim(*content);
    if (!text.starts_with(prefix)) return std::nullopt;
    text = base::trim(text.substr(prefix.size()));
    if (text.empty() || text.find('\n') != std::string_view::npos || text.find('\0') != std::string_view::npos) {
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

// core.worktree of a submodule's configuration, which leads back to its working tree.
std::optional<base::Path> configured_worktree(const host::Tree& tree, const base::Path& directory) {
    base::Result<std::string> config = tree.read(directory / "config", 1u << 20);
    if (!config) return std::nullopt;
    bool in_core = false;
    for (std::string_view line : base::split(*config, '\n')) {
        std::string_view text = base::trim(line);
        if (text.starts_with('[')) in_core = text == "[core]";
        size_t equals = text.find('=');
        if (!in_core || equals == std::string_view::npos || base::trim(text.substr(0, equals)) != "worktree") continue;
        std::string_view value = base::trim(text.substr(equals + 1));
        if (value.size() >= 2 && value.front() == '"' && value.back() == '"') value = value.substr(1, value.size() - 2);
        if (value.empty()) return std::nullopt;
        return physical(tree, value.front() == '/' ? base::Path::known("/") / value : directory / value);
    }
    return std::nullopt;
}

void add_submodules(const host::Tree& tree, const base::Path& modules, std::vector<base::Path>& found) {
    // Names of submodules may hold slashes: a directory without a configuration is looked into.
    for (const host::Entry& entry : tree.list(modules)) {
        if (entry.kind != host::Kind::directory || found.size() >= kMostSubmodules) continue;
        base::Path directory = modules / entry.name;
        if (tree.look(directory / "config")) {
            found.push_back(directory);
            add_submodules(tree, directory / "modules", found);
        } else if (modules.depth() < 64) {
            add_submodules(tree, directory, found);
        }
    }
}

std::optional<GitPlaces> from_link(const host::Tree& tree, const base::Path& working_tree, const base::Path& link) {
    std::optional<base::Path> directory = path_in_file(tree, link, "gitdir:", working_tree);
    if (!directory) return std::nullopt;
    GitPlaces places{.link = link, .directory = *directory, .common = *directory};
    std::optional<base::Path> common = path_in_file(tree, *directory / "commondir", "", *directory);
    if (common) {
        std::optional<base::Path> back = path_in_file(tree, *directory / "gitdir", "", *directory);
        bool is_worktree = back == link && directory->parent() == *common / "worktrees" && is_repository(tree, *common);
        if (!is_worktree) return std::nullopt;
        places.common = *common;
        return places;
    }
    bool is_submodule = is_repository(tree, *directory) && configured_worktree(tree, *directory) == working_tree;
    if (!is_submodule) return std::nullopt;
    return places;
}

}  // namespace

std::optional<GitPlaces> find_git(const host::Tree& tree, const base::Path& working_tree) {
    const base::Path dot_git = working_tree / ".git";
    std::optional<host::Node> node = tree.look(dot_git);
    if (!node) return std::nullopt;
    std::optional<GitPlaces> places;
    if (node->kind == host::Kind::directory) {
        places = GitPlaces{.directory = dot_git, .common = dot_git};
    } else if (node->kind == host::Kind::file) {
        places = from_link(tree, working_tree, dot_git);
    }
    if (!places) return std::nullopt;
    add_submodules(tree, places->common / "modules", places->submodules);
    for (const host::Entry& entry : tree.list(places->common / "worktrees")) {
        if (entry.kind == host::Kind::directory) places->worktrees.push_back(places->common / "worktrees" / entry.name);
    }
    return places;
}

}  // namespace plan
