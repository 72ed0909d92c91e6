// SPDX-License-Identifier: MIT
#include "cli/verbs/review.h"

#include <chrono>

#include "base/encoding/sha256.h"
#include "base/text.h"
#include "plan/backend.h"
#include "plan/project/git.h"
#include "review/review.h"

namespace cli {
namespace {

constexpr std::chrono::seconds kShortRun{2};
constexpr size_t kRecordDigits = 16;

// A relative entry is relative to the current directory; here only the project matters.
std::vector<base::Path> search_path(const Caller& caller, const base::Path& project) {
    std::vector<base::Path> directories;
    std::optional<std::string_view> path = host::variable(caller.environment, "PATH");
    if (!path) return directories;
    for (std::string_view entry : base::split(*path, ':')) {
        base::Path literal = entry.starts_with('/') ? base::Path() / entry : project / entry;
        base::Result<host::Tree::Resolved> resolved = caller.disk.resolve(literal);
        if (resolved) directories.push_back(resolved->path);
    }
    return directories;
}

// git-config(1), FILES. The repository of a worktree is outside the project.
std::vector<base::Path> git_configurations(const Caller& caller, const base::Path& project,
                                           const base::Path& home) {
    std::optional<std::string_view> config = host::variable(caller.environment, "XDG_CONFIG_HOME");
    const base::Path directory =
        config && config->starts_with('/') ? base::Path() / *config : home / ".config";
    std::vector<base::Path> files{base::Path::known("/etc/gitconfig"), home / ".gitconfig",
                                  directory / "git/config"};
    if (std::optional<plan::GitPlaces> git = plan::find_git(caller.disk, project)) {
        files.push_back(git->common / "config");
        files.push_back(git->directory / "config.worktree");
    }
    return files;
}

}  // namespace

EndReview::EndReview() : started_(review::start()), began_(std::chrono::steady_clock::now()) {}

void EndReview::tell(const Output& output, const Caller& caller, const plan::Plan& plan,
                     const Workspace& workspace) const {
    const base::Path& home = workspace.identity.home;
    const std::string& state_directory = workspace.files.state_directory;
    if (!plan.project_is_writable) return;
    const std::string record =
        state_directory + "/reviewed/" + base::sha256(plan.project.str()).substr(0, kRecordDigits);
    review::Session session{.project = plan.project, .started = started_, .record = record};
    // A backend that can't protect paths in the project has no other protection, so print this even when
    // quiet.
    bool is_protected = plan::traits_of(plan.backend).has_view;
    bool is_short = std::chrono::steady_clock::now() - began_ < kShortRun;
    bool is_silent = output.is_quiet() || (is_short && !output.has_terminal());
    if (is_protected && is_silent) return review::leave_to_next_review(session);
    session.search_path = search_path(caller, plan.project);
    session.home = home;
    session.git_configurations = git_configurations(caller, plan.project, home);
    for (const std::string& line : review::describe(review::look_back(session), plan.project))
        is_protected ? output.warning(line) : output.protection(line);
}

void tell_layer_review(const Output& output, const Caller& caller, const Workspace& workspace,
                       const review::Layer& layer) {
    const base::Path& project = workspace.physical_project;
    const base::Path& home = workspace.identity.home;
    const review::Session session{.project = project,
                                  .started = {},
                                  .search_path = {},
                                  .record = {},
                                  .home = home,
                                  .git_configurations = git_configurations(caller, project, home),
                                  .layer = layer};
    for (const std::string& line : review::describe(review::look_back(session), project))
        output.warning(line);
}

}  // namespace cli
