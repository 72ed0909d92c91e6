// SPDX-License-Identifier: MIT
// What an apply writes, and what it leaves in the layer.
#include "cli/layers/apply.h"

#include <sys/stat.h>

#include <algorithm>
#include <set>

#include "base/text.h"
#include "cli/layers/git.h"
#include "cli/layers/show.h"
#include "cli/sessions/sessions.h"
#include "layers/apply.h"
#include "layers/tree.h"

namespace cli {
namespace {

using base::printable;
using layers::Change;

bool is_below_any(const std::string& path, const std::vector<std::string>& names) {
    return std::ranges::any_of(names, [&](const std::string& name) { return layers::is_within(path, name); });
}

// The change itself, or a new directory that leads to a name. Not a removal or a link above the name.
bool is_named(const Change& change, const std::vector<std::string>& names) {
    return !names.empty() && is_selected(change, names);
}

// Every file that would be lost is named.
bool is_accepted(const Change& change, const std::vector<std::string>& names) {
    return std::ranges::all_of(change.conflicts,
                               [&](const std::string& path) { return is_below_any(path, names); });
}

}  // namespace

base::Error layer_refusal(std::string what, std::string advice) {
    return {.what = std::move(what), .advice = std::move(advice), .exit_code = base::ExitCode::check_failed};
}

namespace {

class Application {
  public:
    Application(const Invocation& call, LayerView& view, const Choice& choice, LayerRecord& record)
        : call_(call), view_(view), choice_(choice), record_(record) {}

    Applied run() {
        consider_all();
        leave_moved_repositories();
        report_left();
        const int code = apply_chosen();
        return {.code = code, .branches = code == 0 && !choice_.is_dry_run ? branches_ : Names{}};
    }

    std::vector<std::string> files_for_branch() {
        consider_all();
        report_left();
        chosen_.insert(chosen_.end(), conflicts_.begin(), conflicts_.end());
        std::vector<std::string> files;
        std::set<std::string> replaced;
        for (const Change& change : chosen_) {
            if (change.before.exists()) replaced.insert(change.path);
        }
        for (const std::string& path : deleted_files(view_)) {
            bool is_chosen = replaced.contains("");
            for (std::string above = path; !is_chosen && !above.empty(); above = layers::parent_of(above))
                is_chosen = replaced.contains(above);
            if (is_chosen && !is_of_repository(path)) files.push_back(path);
        }
        for (const Change& change : chosen_) {
            bool is_file =
                change.after.kind == layers::EntryKind::file || change.after.kind == layers::EntryKind::link;
            if (is_file && !is_of_repository(change.path)) files.push_back(change.path);
        }
        return files;
    }

  private:
    using Names = std::vector<std::string>;

    void consider_all() {
        for (const Change& change : view_.changes) {
            if (is_selected(change, choice_.paths)) consider(change);
        }
    }

    int apply_chosen() {
        if (!conflicts_.empty() && !choice_.skips_conflicts) return refuse_conflicts();
        if (choice_.asks && !select())
            return call_.output.fail(layer_refusal("nothing was applied", "the layer stays"));
        drop_orphans();
        if (const size_t ignored = count_changes(view_).ignored; ignored > 0)
            call_.output.protection(base::format("git ignores {}: 'apply --ignored' applies them, too",
                                                 base::counted(ignored, "file", "files")));
        if (chosen_.empty()) return call_.output.result("nothing to apply\n");
        if (choice_.is_dry_run) return show_chosen();
        return apply();
    }

    // A repository is one unit. If one of its files is in conflict, all of them stay in the layer.
    void leave_moved_repositories() {
        std::set<std::string> moved;
        for (const Change& change : conflicts_) moved.insert(repository_of(change.path));
        moved.erase("");
        if (moved.empty()) return;
        auto is_moved = [&](const Change& change) { return moved.contains(repository_of(change.path)); };
        std::vector<Change> own;
        for (const std::vector<Change>* changes : {&chosen_, &conflicts_}) {
            for (const Change& change : *changes) {
                if (moved.contains(".git") && repository_of(change.path) == ".git") own.push_back(change);
            }
        }
        std::erase_if(chosen_, is_moved);
        std::erase_if(conflicts_, is_moved);
        // To fetch them, a jail needs the layer, which only one session can use.
        if (view_.layer.checkpoint == 0) branches_ = branches_in(own);
        for (const std::string& repository : moved)
            call_.output.protection(base::format("{} changed outside, too, and stays in the layer{}",
                                                 printable(repository),
                                                 repository == ".git" && !branches_.empty()
                                                     ? base::format(": its commits become branches below {}",
                                                                    printable(branch_prefix(view_.layer)))
                                                     : ""));
    }

    void consider(const Change& change) {
        if (is_repository_lock(change.path)) {
            left_.push_back(base::format("{} (a lock of git)", change.path));
        } else if (!change.obstacle.empty()) {
            left_.push_back(base::format("{} ({})", change.path, change.obstacle));
        } else if (!change.held.empty() && !is_named(change, choice_.held) && !choice_.asks) {
            held_.push_back(change);
        } else if (!change.conflicts.empty() && !is_accepted(change, choice_.theirs)) {
            conflicts_.push_back(change);
        } else {
            chosen_.push_back(change);
        }
    }

    void report_left() const {
        if (!left_.empty()) call_.output.warning("can't be applied: " + shown_names(left_));
        if (held_.empty()) return;
        call_.output.protection(
            base::format("held back, 'apply --held PATH' applies it: {}", shown_names(held_names(held_))));
    }

    int refuse_conflicts() const {
        std::vector<std::string> names;
        for (const Change& change : conflicts_) {
            for (const std::string& path : change.conflicts) names.push_back(path.empty() ? "." : path);
        }
        for (const std::string& name : names)
            call_.output.warning(
                base::format("changed outside since the session started: {}", printable(name)));
        return call_.output.fail(layer_refusal(
            base::format("nothing was applied: {} in conflict",
                         base::counted(names.size(), "file is", "files are")),
            "'apply --theirs PATH' takes the file of the layer and keeps yours for --undo; or name the "
            "paths to apply"));
    }

    // A chosen file may need a directory that was not chosen: then it stays in the layer, too.
    // Changes are sorted, a directory before its content.
    void drop_orphans() {
        std::set<std::string> made;
        std::erase_if(chosen_, [&](const Change& change) {
            const std::string parent = layers::parent_of(change.path);
            struct stat status;
            bool exists = parent.empty() || made.contains(parent) ||
                          (layers::look(view_.project.get(), parent, status) == 0 && S_ISDIR(status.st_mode));
            if (exists && change.after.kind == layers::EntryKind::directory) made.insert(change.path);
            return !exists;
        });
    }

    // False: the user left.
    bool select() {
        std::vector<Change> yes;
        bool takes_rest = false;
        for (const Change& change : chosen_) {
            if (change.after.kind == layers::EntryKind::directory && !change.is_mode_alone) {
                yes.push_back(change);  // only as far as a file in it is taken
                continue;
            }
            if (!takes_rest) {
                base::Result<std::string> patch = patch_of(view_, {change.path}, diff::BinaryFormat::summary);
                if (patch) (void)call_.output.result(coloured(*patch, call_.output.colours_results()));
                const std::string note =
                    change.held.empty() ? "" : base::format(" ({})", printable(change.held));
                const std::string answer = ask_user(
                    base::format("apply {}{}? y, n, a (this and the rest), q", printable(change.path), note));
                if (answer == "q") return false;
                takes_rest = answer == "a";
                if (answer != "y" && answer != "a") continue;
            } else if (!change.held.empty()) {
                continue;
            }
            yes.push_back(change);
        }
        std::erase_if(yes, [&](const Change& change) {
            bool is_new_directory =
                change.after.kind == layers::EntryKind::directory && !change.is_mode_alone;
            return is_new_directory && std::ranges::none_of(yes, [&](const Change& other) {
                       return other.after.kind != layers::EntryKind::directory &&
                              layers::is_within(other.path, change.path);
                   });
        });
        chosen_ = std::move(yes);
        return true;
    }

    int show_chosen() const {
        std::string deletions, rest;
        for (const Change& change : chosen_) {
            for (const std::string& path : lost_files(view_, change))
                deletions += base::format("delete {}\n", printable(path));
            if (!change.is_deletion())
                rest += base::format("write {}\n", change.path.empty() ? "." : printable(change.path));
        }
        return call_.output.result(deletions + rest);
    }

    int apply() const {
        const layers::Layer& layer = view_.layer;
        Names paths;
        for (const Change& change : chosen_) paths.push_back(change.path);
        base::Result<RepositoryLocks> locks = RepositoryLocks::take(view_.project.get(), paths);
        if (!locks) return call_.output.fail(locks.error());
        const std::vector<unsigned> earlier = layers::applies_of(layer);
        const unsigned number = earlier.empty() ? 1 : earlier.back() + 1;
        const std::string directory = layer.applied(number);
        if (base::Status made = base::make_directories(directory); !made)
            return call_.output.fail(made.error());
        const std::string name = base::format("{}.{}", layer.about.id, number);
        base::Result<layers::Journal> journal =
            layers::apply({.layer = view_.upper.get(),
                           .project = view_.project.get(),
                           .project_path = layer.about.project,
                           .directory = directory,
                           .slots = layers::choose_slots(layer.about.project, directory, name),
                           .scanned = view_.scanned},
                          chosen_);
        if (!journal) return call_.output.fail(journal.error());
        record_.add_apply("apply", layer, *journal, held_paths());
        bool is_all = chosen_.size() + left_.size() == view_.changes.size();
        // A running session may write more.
        if (is_all && layer.checkpoint == 0) layers::mark_all_applied(layer, number);
        return call_.output.result(base::format("applied {}; '{}' takes them back\n",
                                                base::counted(chosen_.size(), "change", "changes"),
                                                command_for("apply --undo", layer)));
    }

    std::vector<std::string> held_paths() const {
        std::vector<std::string> paths;
        for (const Change& change : held_) paths.push_back(change.path);
        return paths;
    }

    const Invocation& call_;
    LayerView& view_;
    const Choice& choice_;
    LayerRecord& record_;
    std::vector<Change> chosen_, held_, conflicts_;
    std::vector<std::string> left_, branches_;
};

}  // namespace

base::Status check_interrupted(const layers::Layer& layer) {
    for (unsigned number : layers::applies_of(layer)) {
        if (!layers::is_interrupted(layer.applied(number))) continue;
        base::Result<layers::Progress> progress = layers::progress_of(layer.applied(number));
        return layer_refusal(base::format("an apply of the layer {} was interrupted: {} of {} steps are done",
                                          printable(layer.about.title()), progress ? progress->performed : 0,
                                          progress ? progress->all : 0),
                             base::format("run '{}' or '{}'", command_for("apply --resume", layer),
                                          command_for("apply --undo", layer)));
    }
    return base::success();
}

base::Status check_interrupted_in(const layers::Store& store, const base::Path& project) {
    for (const layers::Layer& layer : store.list()) {
        if (layer.about.project != project) continue;
        if (base::Status whole = check_interrupted(layer); !whole) return whole;
    }
    return base::success();
}

Applied apply_changes(const Invocation& call, LayerView& view, const Choice& choice, LayerRecord& record) {
    return Application(call, view, choice, record).run();
}

std::vector<std::string> files_for_branch(const Invocation& call, LayerView& view, const Choice& choice,
                                          LayerRecord& record) {
    return Application(call, view, choice, record).files_for_branch();
}

int fetch_left_branches(const Invocation& call, const LayerView& view,
                        const std::vector<std::string>& branches, LayerRecord& record) {
    const layers::Layer& layer = view.layer;
    if (base::Status fetched = fetch_branches(call, layer, branches); !fetched)
        return call.output.fail(fetched.error());
    std::vector<std::string> names;
    for (const std::string& branch : branches) names.push_back(branch_prefix(layer) + branch);
    record.add("fetch", layer, branches.size());
    tell_held_in_branches(call, view, names);
    return call.output.result(base::format("fetched the commits of the layer: {}\n", shown_names(names)));
}

void tell_held_in_branches(const Invocation& call, const LayerView& view,
                           const std::vector<std::string>& branches) {
    base::Result<Settings> settings = settings_for(call, view.layer);
    base::Result<std::vector<std::string>> files = files_of_branches(call, view.layer, branches);
    if (!settings || !files) return call.output.error(settings ? files.error() : settings.error());
    base::Result<std::vector<Change>> held = held_among(call.caller, *std::move(settings), view, *files);
    if (!held) return call.output.error(held.error());
    if (!held->empty())
        call.output.protection(
            "commits of the layer have files that apply holds back; look at them before "
            "you check the branch out: " +
            shown_names(held_names(*held)));
}

}  // namespace cli
