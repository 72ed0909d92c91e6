// SPDX-License-Identifier: MIT
// The question at the end of a session with a layer, and `discard`.
#include "cli/layers/end.h"

#include <sys/stat.h>

#include <algorithm>
#include <ctime>
#include <optional>

#include "base/text.h"
#include "cli/layers/apply.h"
#include "cli/layers/record.h"
#include "cli/layers/show.h"
#include "cli/layers/view.h"
#include "cli/sessions/sessions.h"
#include "cli/verbs/review.h"
#include "layers/checkpoints/checkpoints.h"

namespace cli {
namespace {

using base::printable;
using layers::Change;

constexpr size_t kMostDeletions = 200;

void tell_layer(const Invocation& call, const LayerView& view, const base::Path& home) {
    const Output& output = call.output;
    output.protection(base::format("nothing was written to {}: the changes are in layer {}",
                                   printable(shortened(view.layer.about.project, home)),
                                   printable(view.layer.about.title())));
    output.protection("  " + to_text(count_changes(view)));
    std::vector<std::string> deleted = deleted_files(view);
    std::erase_if(deleted, [](const std::string& path) { return is_of_repository(path); });
    for (size_t i = 0; i < std::min(deleted.size(), kMostDeletions); ++i)
        output.protection("  deleted: " + printable(deleted[i]));
    if (deleted.size() > kMostDeletions)
        output.protection(base::format("  and {} more: {}", deleted.size() - kMostDeletions,
                                       command_for("diff --deleted", view.layer)));
    std::vector<Change> held;
    for (const Change& change : view.changes) {
        if (!change.held.empty() && !change.is_ignored) held.push_back(change);
    }
    if (!held.empty()) output.protection("  held back unless named: " + shown_names(held_names(held)));
}

// Changes that are not held back: those are named already.
void tell_what_runs(const Invocation& call, const LayerView& view, const Workspace& workspace) {
    review::Layer layer{.files = base::Path::known(view.layer.upper()), .changed = {}};
    for (const Change& change : view.changes) {
        bool is_applied =
            !change.is_ignored && change.held.empty() && change.obstacle.empty() && !change.is_deletion();
        if (is_applied && !change.path.empty() && !is_of_repository(change.path))
            layer.changed.insert(view.layer.about.project / change.path);
    }
    tell_layer_review(call.output, call.caller, workspace, layer);
}

void tell_commands(const Output& output, const layers::Layer& layer) {
    output.protection(base::format("'{}' shows them, '{}' writes them, '{}' removes them",
                                   command_for("diff", layer), command_for("apply", layer),
                                   command_for("discard", layer)));
}

// Threat: while the question waits, another session of the layer makes of what was shown something that would
// be held back (tests/jail/cow_attacks.bats).
base::Status check_still_shown(const LayerView& view) {
    if (layers::use_of(view.layer) == view.use) return base::success();
    return layer_refusal(
        "nothing was applied: another session has used the layer since its changes were shown",
        base::format("look at it again with '{}'", command_for("diff", view.layer)));
}

// With the locks of the layer and of its project. Nothing: an error, which was printed.
std::optional<Applied> apply_locked(const Invocation& call, LayerView& view, const Choice& choice,
                                    const Settings& settings, LayerRecord& record) {
    base::Result<base::Fd> lock = layers::lock_for_command(view.layer);
    if (!lock) return call.output.error(lock.error()), std::nullopt;
    const layers::Store store(settings.workspace.files.state_directory);
    struct stat status;
    if (::fstat(view.project.get(), &status) != 0) return std::nullopt;
    base::Result<base::Fd> project = store.lock_project(status.st_dev, status.st_ino);
    if (!project) return call.output.error(project.error()), std::nullopt;
    for (const base::Status& good :
         {check_still_shown(view), check_interrupted_in(store, view.layer.about.project)}) {
        if (!good) return call.output.error(good.error()), std::nullopt;
    }
    Applied applied = apply_changes(call, view, choice, record);
    layers::release(*std::move(lock));
    return applied;
}

// True: it was applied.
bool apply_at_end(const Invocation& call, LayerView& view, const Choice& choice, const Settings& settings) {
    base::Result<LayerRecord> record = LayerRecord::open(settings, view.layer);
    if (!record) {
        call.output.error(record.error());
        return false;
    }
    const std::optional<Applied> applied = apply_locked(call, view, choice, settings, *record);
    if (applied && !applied->branches.empty())
        (void)fetch_left_branches(call, view, applied->branches, *record);
    return applied && applied->code == 0;
}

// The answers do the same as the verbs.
void answer_question(const Invocation& call, LayerView& view, const Settings& settings) {
    const Output& output = call.output;
    while (true) {
        const std::string answer = ask_user("d diff, a apply, s select, k keep, x discard ?");
        if (answer == "d") {
            base::Result<std::string> patch = patch_of(view, {}, diff::BinaryFormat::summary);
            if (!patch) output.error(patch.error());
            if (patch) (void)show_patch(output, call.caller.environment, *patch);
        } else if (answer == "a" || answer == "s") {
            if (apply_at_end(call, view, {.asks = answer == "s"}, settings)) return;
        } else if (answer == "x") {
            if (ask_user("remove the layer for good? [y/N]") != "y") continue;
            base::Result<base::Fd> lock = layers::lock_for_command(view.layer);
            if (!lock) return output.error(lock.error());
            base::Result<LayerRecord> record = LayerRecord::open(settings, view.layer);
            if (!record) return output.error(record.error());
            layers::remove_layer(view.layer);
            return record->add("discard", view.layer, view.changes.size());
        } else if (answer.empty() || answer == "k" || answer == "q") {
            return tell_commands(output, view.layer);
        }
    }
}

// Threat: a project's file that was trusted for its rules has the work of every session removed
// (tests/jail/cow_clone.bats).
bool is_discarded_at_end(const policy::Policy& policy) {
    return policy.cow.at_end == policy::AtEnd::discard &&
           policy.cow.at_end_origin.layer != config::Layer::project;
}

void discard_at_end(const Invocation& call, const LayerView& view, const Settings& settings) {
    base::Result<base::Fd> lock = layers::lock_for_command(view.layer);
    if (!lock) return call.output.error(lock.error());
    base::Result<LayerRecord> record = LayerRecord::open(settings, view.layer);
    if (!record) return call.output.error(record.error());
    if (base::Status whole = check_interrupted(view.layer); !whole) return call.output.error(whole.error());
    layers::remove_layer(view.layer);
    record->add("discard", view.layer, view.changes.size());
    call.output.protection(
        base::format("the layer {} is discarded (cow.at_end)", printable(view.layer.about.title())));
}

// A state that was saved while the session ran is work, too.
void end_without_changes(const Output& output, const layers::Layer& layer) {
    const std::vector<unsigned> applies = layers::applies_of(layer);
    const size_t checkpoints = layers::checkpoints_of(layer).size();
    if (!applies.empty()) return layers::mark_all_applied(layer, applies.back());
    if (checkpoints == 0) return layers::remove_layer(layer);
    output.protection(base::format(
        "nothing is changed, but the layer {} has {}: '{}' lists them", printable(layer.about.title()),
        base::counted(checkpoints, "checkpoint", "checkpoints"), command_for("rollback --list", layer)));
}

// Layers of this project that have waited for longer than applied ones are kept.
void tell_forgotten(const Output& output, const layers::Store& store, const Planned& planned) {
    constexpr int64_t kNanoseconds = 1'000'000'000;
    const auto keep = static_cast<int64_t>(planned.settings.policy.cow.keep);
    const int64_t oldest = int64_t{::time(nullptr)} - keep;
    std::vector<std::string> names;
    for (const layers::Layer& layer : store.list()) {
        bool is_old =
            layer.about.project == planned.plan.project && layer.about.start / kNanoseconds < oldest;
        if (is_old && layers::state_of(layer) == layers::State::waiting) names.push_back(layer.about.title());
    }
    if (!names.empty())
        output.protection(base::format("{} of this project still {} to be applied or discarded: {}",
                                       base::counted(names.size(), "old layer", "old layers"),
                                       names.size() == 1 ? "waits" : "wait", shown_names(names)));
}

}  // namespace

void begin_layer(const Invocation& call, const Planned& planned) {
    const layers::Store store(planned.settings.workspace.files.state_directory);
    if (base::Status whole = check_interrupted_in(store, planned.plan.project); !whole)
        call.output.protection(whole.error().line());
    tell_forgotten(call.output, store, planned);
}

void end_layer(const Invocation& call, const Planned& planned) {
    const Settings& settings = planned.settings;
    const layers::Store store(settings.workspace.files.state_directory);
    base::Result<layers::Layer> layer = store.find(planned.layer->about.id, planned.plan.project);
    if (!layer) return call.output.error(layer.error());
    store.remove_expired(static_cast<int64_t>(settings.policy.cow.keep), ::time(nullptr));
    base::Result<LayerView> view = look_at(call.caller, settings, *layer);
    if (!view) {
        call.output.error(view.error());
        return tell_commands(call.output, *layer);
    }
    if (view->changes.empty()) return end_without_changes(call.output, *layer);
    tell_layer(call, *view, settings.workspace.identity.home);
    tell_what_runs(call, *view, settings.workspace);
    if (is_discarded_at_end(settings.policy)) return discard_at_end(call, *view, settings);
    if (settings.policy.cow.at_end == policy::AtEnd::apply) {
        if (!apply_at_end(call, *view, {.skips_conflicts = true}, settings))
            tell_commands(call.output, *layer);
        return;
    }
    bool asks = settings.policy.cow.at_end == policy::AtEnd::ask && !call.arguments.detaches && can_ask();
    if (!asks) return tell_commands(call.output, *layer);
    answer_question(call, *view, settings);
}

int discard_verb(const Invocation& call) {
    base::Result<Meant> meant = find_meant(call);
    if (!meant) return call.output.fail(meant.error());
    if (!meant->paths.empty()) return wrong_words(call, "discard takes one layer");
    base::Result<base::Fd> lock = layers::lock_for_command(meant->layer);
    if (!lock) return call.output.fail(lock.error());
    if (base::Status whole = check_interrupted(meant->layer); !whole) return call.output.fail(whole.error());
    base::Result<Settings> settings = settings_for(call, meant->layer);
    if (!settings) return call.output.fail(settings.error());
    base::Result<LayerRecord> record = LayerRecord::open(*settings, meant->layer);
    if (!record) return call.output.fail(record.error());
    const std::string title = printable(meant->layer.about.title());
    base::Result<LayerView> view = look_at(call.caller, *std::move(settings), meant->layer);
    if (!call.arguments.has_own("--yes")) {
        const std::string counts = view ? to_text(count_changes(*view)) : "it can't be read";
        const std::string answer =
            can_ask() ? ask_user(base::format("remove the layer {} for good ({})? [y/N]", title, counts))
                      : "";
        if (answer != "y" && answer != "yes")
            return call.output.fail(
                layer_refusal("nothing was removed", "add --yes to remove the layer for good"));
    }
    layers::remove_layer(meant->layer);
    record->add("discard", meant->layer, view ? view->changes.size() : 0);
    return call.output.result(base::format("the layer {} is removed\n", title));
}

}  // namespace cli
