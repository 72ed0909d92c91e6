// SPDX-License-Identifier: MIT
#include "cli/config/project_root.h"

#include <algorithm>

#include "base/text.h"
#include "config/files/sources.h"

namespace cli {
namespace {

constexpr std::string_view kKey = "project.root", kRepository = "repository";

bool is_top(const host::Tree& disk, const base::Path& directory) {
    std::optional<host::Node> git = disk.look(directory / ".git");
    if (!git) return false;
    // The file of a worktree or a submodule; or a directory that is not empty, as a placeholder would be.
    return git->kind == host::Kind::file || disk.look(directory / ".git/HEAD").has_value();
}

// Only the user and the administrator choose the root. If a file can't be read, load_settings() reports it.
bool wants_repository(const Workspace& workspace, const Caller& caller, const Arguments& arguments) {
    std::string chosen;
    auto take = [&](const config::Values& values) {
        if (auto value = values.find(kKey); value != values.end()) chosen = value->second.text;
    };
    if (auto files = config::read_admin_files(workspace.files)) {
        for (const config::LayerFile& file : *files) take(file.values);
    }
    if (auto files = config::read_user_files(workspace.files, workspace.physical_project)) {
        for (const config::LayerFile& file : *files) take(file.values);
    }
    if (arguments.preset) {
        if (auto file = config::read_preset(workspace.files, *arguments.preset)) take(file->values);
    }
    if (auto variables = config::read_variables(caller.environment)) take(*variables);
    take(arguments.settings);
    return chosen == kRepository;
}

// The top as the caller's shell names it, if the last parts of that name are the same.
base::Path named_top(const Workspace& workspace, const Caller& caller, const base::Path& top) {
    const std::string below = base::format("/{}", workspace.physical_project.relative_to(top));
    const std::string& named = workspace.project.str();
    if (!named.ends_with(below)) return top;
    base::Result<base::Path> path = base::Path::parse(named.substr(0, named.size() - below.size()));
    base::Result<host::Tree::Resolved> resolved =
        path ? caller.disk.resolve(*path) : base::Result<host::Tree::Resolved>(base::Error{});
    return resolved && resolved->path == top ? *path : top;
}

// Threat: another user makes /tmp/.git, and a session below /tmp would get /tmp as its project
// (tests/admin/project_root.bats). git also refuses a repository of another user.
bool is_callers(const Workspace& workspace, const Caller& caller, const base::Path& top) {
    for (const base::Path& path : {top, top / ".git"}) {
        std::optional<host::Node> node = caller.disk.look(path);
        if (!node || node->owner != workspace.identity.uid) return false;
    }
    return true;
}

}  // namespace

std::optional<base::Path> repository_above(const host::Tree& disk, const base::Path& directory,
                                           std::string_view ceilings) {
    if (is_top(disk, directory)) return std::nullopt;
    const std::vector<std::string_view> closed = base::split(ceilings, ':');
    for (base::Path path = directory; !path.is_root();) {
        path = path.parent();
        if (std::ranges::find(closed, path.str()) != closed.end()) return std::nullopt;
        if (is_top(disk, path)) return path;
    }
    return std::nullopt;
}

void choose_root(Workspace& workspace, const Caller& caller, const Arguments& arguments) {
    std::optional<base::Path> top =
        repository_above(caller.disk, workspace.physical_project,
                         host::variable(caller.environment, "GIT_CEILING_DIRECTORIES").value_or(""));
    if (!top) return;
    base::Result<host::Tree::Resolved> home = caller.disk.resolve(workspace.identity.home);
    bool holds_home = home && home->path.is_within(*top);
    const std::string shown = base::shell_word(top->str());
    if (!wants_repository(workspace, caller, arguments)) {
        // A home directory under version control is above every project.
        if (holds_home) return;
        workspace.root_line = base::format(
            "the project is a part of the repository {}, so git does not find it; --project {}, or "
            "project.root = \"repository\", takes the whole repository",
            shown, shown);
        return;
    }
    if (holds_home || !is_callers(workspace, caller, *top)) {
        workspace.root_line =
            base::format("the repository {} {}, so the project is the current directory alone (project.root)",
                         shown, holds_home ? "contains your home directory" : "belongs to another user");
        return;
    }
    workspace.project = named_top(workspace, caller, *top);
    workspace.physical_project = *top;
    workspace.project_origin = "the top of the repository (project.root)";
}

}  // namespace cli
