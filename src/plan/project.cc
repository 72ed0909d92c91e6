// SPDX-License-Identifier: MIT
// The project: writable, but for what would run later outside the jail (protected) and what holds secrets
// (masked). Threat: planting .git/hooks, .vscode/tasks.json and their like; tests/jail/protected.bats.
#include <algorithm>

#include "base/glob.h"
#include "base/text.h"
#include "config/data.h"
#include "plan/draft.h"
#include "plan/project_git.h"
#include "plan/project_search.h"
#include "plan/protection.h"

namespace plan {
namespace {

using config::Item;
using config::Layer;

bool is_lifted(const policy::Policy& policy, const Item& item) {
    if (item.origin.layer == Layer::admin) return false;
    return std::ranges::any_of(policy.project.unprotect, [&](const Item& lifted) {
        return lifted.text == item.text || base::matches_path(lifted.text, item.text) ||
               std::string_view(item.text).starts_with(lifted.text + "/");
    });
}

// A directory is what programs take for nothing, and git does not see it; but some agents die of one under
// the name of a file that they read.
WhenMissing when_missing(const Draft& draft, const Item& item) {
    if (draft.inputs.agent == nullptr) return WhenMissing::hold_with_directory;
    bool is_read = std::ranges::any_of(draft.inputs.agent->project_files,
                                       [&](const Item& file) { return file.text == item.text; });
    return is_read ? WhenMissing::hold_with_object : WhenMissing::hold_with_directory;
}

void add_protected(Draft& draft, Protection& protection, const Found& found) {
    std::vector<GitEntry> git_entries;
    for (const Item& item : draft.policy().project.protect) {
        if (is_lifted(draft.policy(), item)) continue;
        Reason reason{reason_for("project/protect", "project.protect", item), item.origin};
        constexpr std::string_view kGitPrefix = ".git/";
        if (std::string_view(item.text).starts_with(kGitPrefix)) {
            git_entries.push_back({std::string_view(item.text).substr(kGitPrefix.size()), std::move(reason)});
        } else if (draft.plan.project_is_writable) {
            protection.protect(draft.project, item.text, reason, when_missing(draft, item));
        }
    }
    add_git(draft, protection, git_entries, found);
}

void add_masked(Draft& draft, const Found& found) {
    for (const auto& [path, item] : found.masked) {
        // A link is masked where it leads to; outside the project that is not visible anyway.
        base::Result<host::Tree::Resolved> resolved = draft.tree().resolve(path);
        if (!resolved || !resolved->exists || !resolved->path.is_within(draft.project)) continue;
        Reason reason{reason_for("project/mask", "project.mask", item), item.origin};
        draft.add_rule(resolved->path, Access::masked, std::move(reason));
    }
    if (!found.is_complete) {
        draft.note(NoteKind::information,
                   "the project is large: files to mask and repositories to protect were looked for near its "
                   "top only; name deeper "
                   "ones with project.mask and project.protect");
    }
}

}  // namespace

base::Status add_project(Draft& draft) {
    const auto& project = draft.policy().project;
    draft.plan.project_is_writable = !project.read_only;
    draft.add_rule(
        draft.project, project.read_only ? Access::readonly : Access::writable,
        {project.read_only ? "the project, for reading" : "the project", project.read_only_origin});
    Found found = search_project(draft.tree(), draft.project, draft.policy());
    add_masked(draft, found);
    Protection protection(draft);
    add_protected(draft, protection, found);

    // The program itself may lie in the project: who can replace it runs outside the jail next time.
    const base::Path& program = draft.inputs.facts.own_program;
    if (program.is_within(draft.project)) {
        protection.protect_existing(draft.project, program, {"the sandbox's own program", {}});
    }
    return protection.status();
}

}  // namespace plan
