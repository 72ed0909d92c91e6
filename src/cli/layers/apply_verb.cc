// SPDX-License-Identifier: MIT
// `apply`.
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

#include "base/no_links.h"
#include "base/text.h"
#include "cli/arguments.h"
#include "cli/layers/apply.h"
#include "cli/layers/checkpoint.h"
#include "cli/layers/git.h"
#include "cli/layers/show.h"
#include "cli/sessions/sessions.h"
#include "layers/apply.h"
#include "layers/checkpoints/checkpoints.h"

namespace cli {
namespace {

using base::printable;
using layers::Change;

// Removes what a killed apply had staged and not decided.
void remove_undecided(const layers::Layer& layer) {
    for (unsigned number : layers::applies_of(layer)) {
        const std::string directory = layer.applied(number);
        if (!layers::is_interrupted(directory) && !layers::is_done(directory))
            layers::remove_applied(directory);
    }
}

base::Result<base::Fd> lock_project_of(const Meant& meant) {
    struct stat status;
    if (::stat(meant.layer.about.project.c_str(), &status) != 0)
        return base::system_error("read " + printable(meant.layer.about.project.str()), errno);
    return layers::Store(meant.state_directory).lock_project(status.st_dev, status.st_ino);
}

int finish_apply(const Invocation& call, const layers::Layer& layer, LayerRecord& record) {
    const bool is_undo = call.arguments.has_own("--undo");
    const std::vector<unsigned> applies = layers::applies_of(layer);
    auto is_meant = [&](unsigned number) {
        return layers::is_interrupted(layer.applied(number)) ||
               (is_undo && layers::is_done(layer.applied(number)));
    };
    auto last = std::ranges::find_if(applies.rbegin(), applies.rend(), is_meant);
    if (last == applies.rend())
        return call.output.fail(layer_refusal(
            is_undo ? "nothing was applied from this layer" : "no apply of this layer was interrupted",
            "'agent-sandbox layers' lists the layers"));
    const std::string directory = layer.applied(*last);
    base::Result<layers::Journal> journal = layers::load_journal(directory);
    if (!journal) return call.output.fail(journal.error());
    std::vector<std::string> paths;
    for (const layers::Operation& operation : journal->operations) paths.push_back(operation.path);
    base::Fd project(base::open_without_links(layer.about.project, O_RDONLY | O_DIRECTORY));
    base::Result<RepositoryLocks> locks = RepositoryLocks::take(project.get(), paths);
    if (!locks) return call.output.fail(locks.error());
    base::Status done = is_undo ? layers::undo(directory, refreshed_index(layer)) : layers::resume(directory);
    if (!done) return call.output.fail(done.error());
    if (is_undo) {
        record.add("undo", layer, journal->operations.size());
    } else {
        record.add_apply("resume", layer, *journal, {});
    }
    return call.output.result(is_undo ? "undone: the project is as before the apply\n"
                                      : "resumed: every change is applied\n");
}

std::string value_of(const Invocation& call, std::string_view flag) {
    std::string last;
    for (const auto& [name, value] : call.arguments.own_values) {
        if (name == flag) last = value;
    }
    return last;
}

int make_branch_of(const Invocation& call, const LayerView& view, BranchRequest request,
                   LayerRecord& record) {
    if (request.files.empty() && branches_in(view.changes).empty())
        return call.output.result("nothing to apply\n");
    if (call.arguments.is_dry_run) {
        std::string names;
        for (const std::string& file : request.files) names += printable(file) + "\n";
        return call.output.result(names);
    }
    const std::string title = view.layer.about.title();
    if (request.message.empty()) request.message = "Changes of the layer " + title;
    if (base::Status made = make_branch(call, view.layer, request); !made)
        return call.output.fail(made.error());
    record.add("branch", view.layer, request.files.size());
    tell_held_in_branches(call, view, {request.name});
    return call.output.result(base::format("the branch {} has the changes; the layer {} stays\n",
                                           printable(request.name), printable(title)));
}

// Merges what is in conflict, and looks at the layer again. The names that were merged count as accepted, as
// long as the project's file is still the one that was merged.
base::Status merge_conflicts(const Invocation& call, const Settings& settings, LayerView& view,
                             Choice& choice) {
    std::vector<Change> merged;
    for (const Change& change : view.changes) {
        bool is_wanted = is_selected(change, choice.paths) && change.conflicts.size() == 1 &&
                         change.conflicts.front() == change.path;
        if (is_wanted && merge_into_layer(call, view.layer, change)) merged.push_back(change);
    }
    base::Result<LayerView> again = look_at(call.caller, settings, view.layer);
    if (!again) return again.error();
    view = *std::move(again);
    for (const Change& one : merged) {
        auto now = std::ranges::find(view.changes, one.path, &Change::path);
        bool is_same = now != view.changes.end() && now->before.inode == one.before.inode &&
                       now->before.modified == one.before.modified && now->before.size == one.before.size;
        if (is_same) choice.theirs.push_back(one.path);
        call.output.warning(base::format("merged with the changes outside: {}", printable(one.path)));
    }
    return base::success();
}

std::vector<std::string> values_of(const Invocation& call, std::string_view flag, const Meant& meant) {
    std::vector<std::string> paths;
    for (const auto& [name, value] : call.arguments.own_values) {
        if (name != flag) continue;
        base::Result<base::Path> path = path_from(value, meant.home, call.caller.working_directory);
        const base::Path& project = meant.layer.about.project;
        paths.push_back(path && path->is_within(project) ? std::string(path->relative_to(project)) : value);
    }
    return paths;
}

// These write to the layer, or need a jail with it.
bool may_apply_running(const Invocation& call) {
    const Arguments& arguments = call.arguments;
    return !arguments.has_own("--merge") && value_of(call, "--to-branch").empty();
}

base::Error not_while_running(const layers::Layer& layer) {
    const std::string title = printable(layer.about.title());
    return layer_refusal(base::format("a session uses the layer {}", title),
                         "wait until it ends, or use 'agent-sandbox stop'; without --merge and --to-branch a "
                         "copy of its present state is applied");
}

}  // namespace

int apply_verb(const Invocation& call) {
    base::Result<Meant> meant = find_meant(call);
    if (!meant) return call.output.fail(meant.error());
    const bool is_running = is_in_session(call, meant->layer);
    if (is_running && !may_apply_running(call)) return call.output.fail(not_while_running(meant->layer));
    // What a running session has written is applied from a checkpoint.
    base::Result<base::Fd> lock =
        is_running ? layers::lock_checkpoints(meant->layer) : layers::lock_for_command(meant->layer);
    if (!lock) return call.output.fail(lock.error());
    base::Result<base::Fd> project = lock_project_of(*meant);
    if (!project) return call.output.fail(project.error());
    base::Result<Settings> settings = settings_for(call, meant->layer);
    if (!settings) return call.output.fail(settings.error());
    base::Result<LayerRecord> record = LayerRecord::open(*settings, meant->layer);
    if (!record) return call.output.fail(record.error());
    const Arguments& arguments = call.arguments;
    if (arguments.has_own("--undo") || arguments.has_own("--resume"))
        return finish_apply(call, meant->layer, *record);
    base::Status whole =
        check_interrupted_in(layers::Store(meant->state_directory), meant->layer.about.project);
    if (!whole) return call.output.fail(whole.error());
    remove_undecided(meant->layer);
    if (is_running) {
        base::Result<Saved> saved = save_state(call, meant->layer, {.text = "for apply"});
        if (!saved) return call.output.fail(saved.error());
        meant->layer.checkpoint = saved->checkpoint.number;
    } else if (layers::may_be_damaged(meant->layer)) {
        call.output.protection("the machine went down before this layer was synced; check it closely");
    }
    base::Result<LayerView> view = look_at(call.caller, *settings, meant->layer);
    if (!view) return call.output.fail(view.error());
    Choice choice{.paths = meant->paths,
                  .held = values_of(call, "--held", *meant),
                  .theirs = values_of(call, "--theirs", *meant),
                  .is_dry_run = arguments.is_dry_run,
                  .asks = arguments.has_own("--select")};
    if (base::Status known = check_paths(*view, choice.paths); !known) return call.output.fail(known.error());
    const std::string branch = value_of(call, "--to-branch");
    if (choice.asks && !branch.empty())
        return wrong_words(call, "--select and --to-branch exclude each other");
    if (branch.empty() && !value_of(call, "--message").empty())
        return wrong_words(call, "--message needs --to-branch");
    if (choice.asks && !can_ask()) return wrong_words(call, "apply --select needs a terminal");
    if (arguments.has_own("--merge")) {
        if (choice.is_dry_run || !branch.empty())
            return wrong_words(call, "--merge can't be combined with --dry-run or --to-branch");
        if (base::Status merged = merge_conflicts(call, *settings, *view, choice); !merged)
            return call.output.fail(merged.error());
    }
    if (arguments.has_own("--ignored")) include_ignored(*view);
    if (!branch.empty()) {
        BranchRequest request{.name = branch,
                              .message = value_of(call, "--message"),
                              .files = files_for_branch(call, *view, choice, *record)};
        layers::release(*std::move(lock));
        return make_branch_of(call, *view, std::move(request), *record);
    }
    const Applied applied = apply_changes(call, *view, choice, *record);
    if (is_running) layers::remove_surplus_checkpoints(meant->layer);
    if (applied.branches.empty()) return applied.code;
    layers::release(*std::move(lock));
    return fetch_left_branches(call, *view, applied.branches, *record);
}

}  // namespace cli
