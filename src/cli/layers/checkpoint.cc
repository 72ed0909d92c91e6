// SPDX-License-Identifier: MIT
// `checkpoint` and `rollback`.
#include "cli/layers/checkpoint.h"

#include <fcntl.h>

#include <algorithm>
#include <ctime>
#include <optional>

#include "base/no_links.h"
#include "base/parse.h"
#include "base/table.h"
#include "base/text.h"
#include "cli/arguments.h"
#include "cli/layers/apply.h"
#include "cli/layers/record.h"
#include "cli/layers/view.h"
#include "cli/output.h"
#include "cli/sessions/sessions.h"
#include "layers/checkpoints/copy.h"
#include "layers/checkpoints/restore.h"
#include "session/control/frozen_jail.h"

namespace cli {
namespace {

using base::printable;
using layers::Checkpoint;
using layers::NewCheckpoint;
using session::FrozenJail;

constexpr int kAttempts = 5;
constexpr size_t kLongestText = 200;

// The supervisor of the session that uses the layer.
std::optional<pid_t> supervisor_of(const Invocation& call, const layers::Layer& layer) {
    base::Result<Sessions> sessions = find_sessions(call, session::DeadSessions::skip);
    if (!sessions) return std::nullopt;
    for (const session::Known& known : sessions->known) {
        bool uses_it = known.state == session::Known::State::running &&
                       known.metadata.text("layer_files") == layer.present() &&
                       session::is_process_of(known.metadata);
        if (uses_it) return static_cast<pid_t>(known.metadata.number("pid"));
    }
    return std::nullopt;
}

base::Error too_long(const layers::Layer& layer) {
    return layer_refusal(
        base::format("the session was frozen for {} seconds and runs on; nothing was saved",
                     FrozenJail::kLongest.count()),
        base::format("wait until the session has ended, then '{}'", command_for("checkpoint", layer)));
}

// At least one, because zero means that no session was frozen.
std::chrono::milliseconds time_since(FrozenJail::Clock::time_point since) {
    return std::max(std::chrono::duration_cast<std::chrono::milliseconds>(FrozenJail::Clock::now() - since),
                    std::chrono::milliseconds(1));
}

// A running session, as long as this object exists, and a copy of its layer.
struct FrozenCopy {
    FrozenJail jail;
    NewCheckpoint copy;
};

base::Result<FrozenCopy> freeze_and_copy(const Invocation& call, const layers::Layer& layer) {
    std::optional<pid_t> supervisor = supervisor_of(call, layer);
    if (!supervisor) {
        base::Error ended = layer_refusal(
            base::format("the session of the layer {} has ended", printable(layer.about.title())),
            "try again");
        ended.may_pass = true;
        return ended;
    }
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
        layers::remove_unfinished(layer);
        base::Result<FrozenJail> jail = FrozenJail::freeze(*supervisor);
        if (!jail) return jail.error();
        base::Result<NewCheckpoint> copy = NewCheckpoint::make(layer, jail->end());
        if (!copy && layers::took_too_long(copy.error())) {
            jail->thaw();
            layers::remove_unfinished(layer);
            return too_long(layer);
        }
        if (copy && jail->is_whole()) return FrozenCopy{*std::move(jail), *std::move(copy)};
        if (!copy && jail->is_whole()) return copy.error();
        jail->thaw();
    }
    return layer_refusal("commands started or ended in the session while it was copied; nothing was saved",
                         "try again");
}

base::Result<Saved> save_running(const Invocation& call, const layers::Layer& layer, const SavedAs& as) {
    base::Result<FrozenCopy> frozen = freeze_and_copy(call, layer);
    if (!frozen) return frozen.error();
    frozen->jail.thaw();
    const std::chrono::milliseconds time = time_since(frozen->jail.since());
    base::Result<Checkpoint> kept = frozen->copy.keep(as.text, as.is_named);
    if (!kept) return kept.error();
    return Saved{.checkpoint = *std::move(kept), .frozen = time};
}

base::Result<Saved> save_at_rest(const layers::Layer& layer, const SavedAs& as) {
    base::Result<NewCheckpoint> copy = NewCheckpoint::make(layer);
    if (!copy) return copy.error();
    base::Result<Checkpoint> kept = copy->keep(as.text, as.is_named);
    if (!kept) return kept.error();
    return Saved{.checkpoint = *std::move(kept)};
}

std::string frozen_note(const Saved& saved) {
    return saved.frozen.count() == 0
               ? ""
               : base::format("; the session stood still for {} ms", saved.frozen.count());
}

}  // namespace

// After the end of a session its keeper has the lock for a moment.
bool is_in_session(const Invocation& call, const layers::Layer& layer) {
    return layers::state_of(layer) == layers::State::running && supervisor_of(call, layer);
}

// A session that ends meanwhile leaves a layer at rest.
base::Result<Saved> save_state(const Invocation& call, const layers::Layer& layer, const SavedAs& as) {
    if (is_in_session(call, layer)) {
        base::Result<Saved> saved = save_running(call, layer, as);
        if (saved || !saved.error().may_pass) return saved;
    }
    base::Result<base::Fd> lock = layers::lock_for_command(layer);
    if (!lock) return lock.error();
    return save_at_rest(layer, as);
}

int checkpoint_verb(const Invocation& call) {
    base::Result<Meant> meant = find_meant(call);
    if (!meant) return call.output.fail(meant.error());
    if (!meant->paths.empty()) return wrong_words(call, "checkpoint takes one layer");
    const std::string text = call.arguments.own_value("--message");
    if (text.size() > kLongestText) return wrong_words(call, "--message is too long");
    if (base::Status whole = check_interrupted(meant->layer); !whole) return call.output.fail(whole.error());
    base::Result<Settings> settings = settings_for(call, meant->layer);
    if (!settings) return call.output.fail(settings.error());
    base::Result<LayerRecord> record = LayerRecord::open(*settings, meant->layer);
    if (!record) return call.output.fail(record.error());
    base::Result<base::Fd> lock = layers::lock_checkpoints(meant->layer);
    if (!lock) return call.output.fail(lock.error());
    base::Result<Saved> saved = save_state(call, meant->layer, {.text = text, .is_named = !text.empty()});
    if (!saved) return call.output.fail(saved.error());
    layers::remove_surplus_checkpoints(meant->layer);
    record->add("checkpoint", meant->layer, saved->checkpoint.number);
    return call.output.result(base::format("checkpoint {} of the layer {} is saved{}\n",
                                           saved->checkpoint.number, printable(meant->layer.about.title()),
                                           frozen_note(*saved)));
}

namespace {

int list_checkpoints(const Invocation& call, const layers::Layer& layer) {
    const std::vector<Checkpoint> all = layers::checkpoints_of(layer);
    if (all.empty())
        return call.output.result(
            base::format("the layer {} has no checkpoints\n", printable(layer.about.title())));
    base::Table table;
    for (const Checkpoint& checkpoint : all)
        table.add({{std::to_string(checkpoint.number)},
                   {base::utc_stamp(static_cast<std::time_t>(checkpoint.time)), base::Style::dim},
                   {printable(checkpoint.text)}});
    return call.output.result(table.text(0, call.output.colours_results()));
}

base::Error failed_half(const layers::Layer& layer, const base::Error& error, unsigned saved) {
    base::Error whole = error;
    whole.what = "the rollback is not complete: " + error.what;
    whole.advice =
        base::format("'{} {}' goes back to the state before it", command_for("rollback", layer), saved);
    whole.exit_code = base::ExitCode::check_failed;
    return whole;
}

base::Result<Saved> roll_back_running(const Invocation& call, const layers::Layer& layer, unsigned number,
                                      const SavedAs& as) {
    base::Result<FrozenCopy> frozen = freeze_and_copy(call, layer);
    if (!frozen) return frozen.error();
    const base::Path& project = layer.about.project;
    auto open = [](const base::Path& path) {
        return base::Fd(base::open_without_links(path, O_RDONLY | O_DIRECTORY));
    };
    const base::Fd upper = open(base::Path::known(layer.present()));
    const base::Fd checkpoint = open(base::Path::known(layer.checkpoint_upper(number)));
    const base::Fd lower = open(project);
    if (!upper || !checkpoint || !lower)
        return layer_refusal("the files of the layer can't be opened; nothing was changed", "try again");
    base::Result<base::Fd> mount = frozen->jail.open_project(
        {.path = project, .mounts = layers::noted_mounts(layer), .clone = layer.is_clone ? upper.get() : -1});
    if (!mount) return mount.error();
    base::Result<Checkpoint> kept = frozen->copy.keep(as.text, as.is_named);
    if (!kept) return kept.error();
    base::Result<size_t> restored = layers::restore_through({.mount = mount->get(),
                                                             .upper = layer.is_clone ? -1 : upper.get(),
                                                             .checkpoint = checkpoint.get(),
                                                             .project = layer.is_clone ? -1 : lower.get()});
    if (base::Status listed = layers::list_restored(layer, number); restored && !listed)
        restored = listed.error();
    if (!restored) return failed_half(layer, restored.error(), kept->number);
    frozen->jail.thaw();
    return Saved{.checkpoint = *std::move(kept), .frozen = time_since(frozen->jail.since())};
}

base::Result<Saved> roll_back(const Invocation& call, const layers::Layer& layer, unsigned number) {
    const SavedAs as{.text = base::format("before the rollback to {}", number)};
    if (is_in_session(call, layer)) {
        base::Result<Saved> saved = roll_back_running(call, layer, number, as);
        if (saved || !saved.error().may_pass) return saved;
    }
    base::Result<base::Fd> lock = layers::lock_for_command(layer);
    if (!lock) return lock.error();
    base::Result<Saved> saved = save_at_rest(layer, as);
    if (!saved) return saved;
    if (base::Status restored = layers::restore_at_rest(layer, number); !restored) return restored.error();
    return saved;
}

}  // namespace

// LAYER N, LAYER alone, or N of the only layer here.
int rollback_verb(const Invocation& call) {
    Arguments arguments = call.arguments;
    std::vector<std::string>& words = arguments.words;
    std::optional<unsigned> number =
        words.empty() ? std::nullopt : base::parse_number<unsigned>(words.back());
    bool is_list = arguments.has_own("--list");
    // Digits of an id have at least four letters, so a shorter number is one of a checkpoint.
    constexpr size_t kLongestNumber = 3;
    bool has_number = number && (words.size() > 1 || words.back().size() <= kLongestNumber);
    if (has_number) words.pop_back();
    const Invocation own{call.caller, arguments, call.output};
    base::Result<Meant> meant = find_meant(own);
    if (!meant) return call.output.fail(meant.error());
    const layers::Layer& layer = meant->layer;
    if (!meant->paths.empty()) return wrong_words(call, "rollback takes a layer and a number");
    if (is_list) return list_checkpoints(call, layer);
    if (base::Status whole = check_interrupted(layer); !whole) return call.output.fail(whole.error());
    base::Result<base::Fd> lock = layers::lock_checkpoints(layer);
    if (!lock) return call.output.fail(lock.error());
    const std::vector<Checkpoint> all = layers::checkpoints_of(layer);
    if (!has_number && all.empty())
        return call.output.fail(
            layer_refusal(base::format("the layer {} has no checkpoint", printable(layer.about.title())),
                          base::format("'{}' makes one", command_for("checkpoint", layer))));
    base::Result<Checkpoint> wanted =
        layers::find_checkpoint(layer, has_number ? *number : all.back().number);
    if (!wanted) return call.output.fail(wanted.error());
    base::Result<Settings> settings = settings_for(call, layer);
    if (!settings) return call.output.fail(settings.error());
    base::Result<LayerRecord> record = LayerRecord::open(*settings, layer);
    if (!record) return call.output.fail(record.error());
    base::Result<Saved> saved = roll_back(call, layer, wanted->number);
    if (!saved) return call.output.fail(saved.error());
    layers::remove_surplus_checkpoints(layer);
    record->add("rollback", layer, wanted->number);
    return call.output.result(base::format(
        "the layer {} is as at checkpoint {}{}; '{} {}' goes forward again\n", printable(layer.about.title()),
        wanted->number, frozen_note(*saved), command_for("rollback", layer), saved->checkpoint.number));
}

}  // namespace cli
