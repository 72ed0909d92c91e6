// SPDX-License-Identifier: MIT
// `layers` and `diff`.
#include "cli/layers/show.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <iostream>
#include <map>
#include <set>

#include "base/encoding/json.h"
#include "base/encoding/sha1.h"
#include "base/parse.h"
#include "base/table.h"
#include "base/text.h"
#include "cli/arguments.h"
#include "cli/layers/checkpoint.h"
#include "cli/sessions/sessions.h"
#include "layers/checkpoints/checkpoints.h"
#include "layers/tree.h"

namespace cli {
namespace {

using base::printable;
using layers::Change;
using layers::EntryKind;

constexpr uint64_t kLargestText = 4u << 20;
constexpr size_t kMostNamed = 5;

// One file of a side, with its content as long as it is compared.
struct Loaded {
    std::string content;
    diff::Side side;
};

base::Result<Loaded> load_side(int root, const std::string& path) {
    struct stat status;
    Loaded loaded;
    if (int number = layers::look(root, path, status); number != 0)
        return number == ENOENT ? base::Result<Loaded>(std::move(loaded))
                                : base::system_error("read " + printable(path), number);
    loaded.side.exists = S_ISREG(status.st_mode) || S_ISLNK(status.st_mode);
    if (S_ISLNK(status.st_mode)) {
        base::Result<std::string> target = layers::link_target(root, path);
        if (!target) return target.error();
        loaded.content = *std::move(target);
        loaded.side.mode = diff::kLinkMode;
    } else if (S_ISREG(status.st_mode)) {
        loaded.side.mode = (status.st_mode & 0100) != 0 ? diff::kProgramMode : diff::kFileMode;
        loaded.side.size = static_cast<uint64_t>(status.st_size);
        loaded.side.is_too_large = loaded.side.size > kLargestText;
        if (loaded.side.is_too_large) return loaded;
        base::Fd file(layers::open_below(root, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK));
        if (!file) return base::system_error("read " + printable(path), -file.get());
        base::Result<std::string> content = base::read_descriptor(file.get());
        if (!content) return content.error();
        loaded.content = *std::move(content);
    }
    return loaded;
}

class Patches {
  public:
    Patches(const LayerView& view, diff::BinaryFormat binary) : view_(view), binary_(binary) {}

    base::Result<std::string> make(const std::vector<std::string>& paths) {
        for (const std::string& path : deleted_files(view_, paths)) {
            if (is_of_repository(path)) continue;
            if (base::Status added = add_deletion(path); !added) return added.error();
        }
        for (const Change& change : view_.changes) {
            bool is_file = change.after.kind == EntryKind::file || change.after.kind == EntryKind::link;
            if (!is_file || !change.obstacle.empty() || !is_selected(change, paths)) continue;
            if (is_of_repository(change.path)) continue;
            if (base::Status added = add(change); !added) return added.error();
        }
        std::string text;
        for (const auto& [path, patch] : deletions_) text += patch;
        return text + renames_ + rest_;
    }

  private:
    static std::string identity(const Loaded& loaded) {
        return base::sha1(loaded.content) + std::to_string(loaded.side.mode);
    }

    base::Status add_deletion(const std::string& path) {
        base::Result<Loaded> before = load_side(view_.project.get(), path);
        if (!before) return before.error();
        before->side.content = before->content;
        deletions_[path] = diff::patch(path, before->side, {}, binary_);
        if (before->side.exists && !before->content.empty()) by_content_[identity(*before)].push_back(path);
        return base::success();
    }

    base::Status add(const Change& change) {
        base::Result<Loaded> before = load_side(view_.project.get(), change.path);
        base::Result<Loaded> after = load_side(view_.upper.get(), change.path);
        if (!before) return before.error();
        if (!after) return after.error();
        before->side.content = before->content;
        after->side.content = after->content;
        // A new file with the content of a deleted one.
        auto same = before->side.exists ? by_content_.end() : by_content_.find(identity(*after));
        if (same != by_content_.end() && !same->second.empty()) {
            const std::string from = same->second.front();
            same->second.erase(same->second.begin());
            deletions_.erase(from);
            renames_ += diff::rename_patch(from, change.path);
            return base::success();
        }
        rest_ += diff::patch(change.path, before->side, after->side, binary_);
        return base::success();
    }

    const LayerView& view_;
    diff::BinaryFormat binary_;
    std::map<std::string, std::string> deletions_;
    std::map<std::string, std::vector<std::string>> by_content_;
    std::string renames_, rest_;
};

// ---- The forms of diff

std::string_view change_letter(const Change& change) {
    if (change.is_deletion()) return "D";
    if (change.is_addition()) return "A";
    return change.is_mode_alone ? "m" : "M";
}

std::string change_note(const Change& change) {
    if (!change.obstacle.empty()) return base::format("  (can't be applied: {})", change.obstacle);
    if (!change.conflicts.empty()) return "  (changed outside, too)";
    return change.held.empty() ? "" : base::format("  (held back, {})", printable(change.held));
}

std::string names_text(const LayerView& view, const std::vector<std::string>& paths) {
    std::string deletions, rest;
    size_t in_repositories = 0;
    for (const Change& change : view.changes) {
        if (!change.is_deletion() && !change.is_ignored) {
            // What was in a directory that becomes a file.
            for (const std::string& path : lost_files(view, change)) {
                if (is_selected({.path = path}, paths)) deletions += base::format("D {}\n", printable(path));
            }
        }
        if (!is_selected(change, paths)) continue;
        if (is_of_repository(change.path) && change_note(change).empty()) {
            ++in_repositories;
            continue;
        }
        bool is_directory =
            (change.is_deletion() ? change.before : change.after).kind == EntryKind::directory;
        std::string line = base::format("{} {}{}{}\n", change_letter(change),
                                        change.path.empty() ? "." : printable(change.path),
                                        is_directory ? "/" : "", change_note(change));
        (change.is_deletion() ? deletions : rest) += line;
    }
    if (in_repositories > 0)
        rest += base::format("  and {} of git's own\n", base::counted(in_repositories, "file", "files"));
    return deletions + rest;
}

base::Result<std::string> stat_text(const LayerView& view, const std::vector<std::string>& paths) {
    base::Table table;
    auto add = [&](std::string_view letter, const std::string& path, bool is_deleted) -> base::Status {
        base::Result<Loaded> before = load_side(view.project.get(), path);
        base::Result<Loaded> after =
            is_deleted ? base::Result<Loaded>(Loaded{}) : load_side(view.upper.get(), path);
        if (!before) return before.error();
        if (!after) return after.error();
        before->side.content = before->content;
        after->side.content = after->content;
        diff::Counts counts = diff::count_lines(before->side, after->side);
        table.add({{std::string(letter)},
                   {printable(path)},
                   {counts.is_binary ? "binary" : base::format("+{} -{}", counts.added, counts.removed)}});
        return base::success();
    };
    for (const std::string& path : deleted_files(view, paths)) {
        if (is_of_repository(path)) continue;
        if (base::Status added = add("D", path, true); !added) return added.error();
    }
    for (const Change& change : view.changes) {
        bool is_file = change.after.kind == EntryKind::file || change.after.kind == EntryKind::link;
        if (!is_file || !is_selected(change, paths) || is_of_repository(change.path)) continue;
        if (base::Status added = add(change_letter(change), change.path, false); !added) return added.error();
    }
    return table.text(0, false) + to_text(count_changes(view)) + "\n";
}

base::Json change_json(const Change& change) {
    return base::Json::object()
        .set("path", change.path)
        .set("change", change.is_deletion()   ? "deleted"
                       : change.is_addition() ? "new"
                       : change.is_mode_alone ? "mode"
                                              : "changed")
        .set("held", change.held)
        .set("obstacle", change.obstacle)
        .set("conflict", !change.conflicts.empty());
}

std::string layer_age(int64_t start) {
    const int64_t seconds = std::max<int64_t>(0, int64_t{::time(nullptr)} - start / 1'000'000'000);
    if (seconds < 120) return base::format("{} s", seconds);
    if (seconds < 7200) return base::format("{} min", seconds / 60);
    return seconds < 172'800 ? base::format("{} h", seconds / 3600)
                             : base::format("{} days", seconds / 86'400);
}

}  // namespace

base::Result<std::string> patch_of(const LayerView& view, const std::vector<std::string>& paths,
                                   diff::BinaryFormat binary) {
    return Patches(view, binary).make(paths);
}

std::string coloured(std::string_view patch, bool is_coloured) {
    std::string text;
    bool is_in_hunk = false;
    for (std::string_view line : base::split(patch, '\n')) {
        base::Style style = base::Style::plain;
        if (line.starts_with("diff --git ")) is_in_hunk = false;
        if (line.starts_with("@@")) is_in_hunk = true;
        if (!is_in_hunk) {
            style = base::Style::bold;
        } else if (line.starts_with('+')) {
            style = base::Style::green;
        } else if (line.starts_with('-')) {
            style = base::Style::red;
        } else if (line.starts_with("@@")) {
            style = base::Style::dim;
        }
        // Tabs are part of most sources.
        std::string shown;
        for (std::string_view part : base::split(line, '\t'))
            shown += (shown.empty() ? "" : "\t") + printable(part);
        text += base::styled(shown, style, is_coloured) + "\n";
    }
    if (!text.empty()) text.pop_back();
    return text;
}

int show_patch(const Output& output, const std::vector<std::string>& environment, std::string_view patch) {
    if (::isatty(STDOUT_FILENO) != 1) return output.result(patch);
    const std::string text = coloured(patch, output.colours_results());
    std::string pager(host::variable(environment, "PAGER").value_or("less"));
    int ends[2];
    if (pager.empty() || pager == "cat" || ::pipe2(ends, O_CLOEXEC) != 0) return output.result(text);
    pid_t child = ::fork();
    if (child == 0) {
        ::dup2(ends[0], STDIN_FILENO);
        ::setenv("LESS", "FRX", 0);
        ::execl("/bin/sh", "sh", "-c", pager.c_str(), static_cast<char*>(nullptr));
        ::_exit(127);
    }
    ::close(ends[0]);
    base::Fd end(ends[1]);
    if (child < 0) return output.result(text);
    // The user may leave the pager before the end.
    auto before = std::signal(SIGPIPE, SIG_IGN);
    (void)base::write_all(end.get(), text);
    end.reset();
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
    std::signal(SIGPIPE, before);
    bool is_missing = WIFEXITED(status) && WEXITSTATUS(status) == 127;
    return is_missing ? output.result(text) : 0;
}

std::string shown_names(const std::vector<std::string>& names) {
    std::vector<std::string> shown;
    for (const std::string& name : names) {
        if (shown.size() == kMostNamed) break;
        shown.push_back(printable(name));
    }
    const std::string more =
        names.size() > kMostNamed ? base::format(" and {} more", names.size() - kMostNamed) : "";
    return base::join(shown, ", ") + more;
}

std::vector<std::string> held_names(const std::vector<Change>& held) {
    std::vector<std::string> names;
    std::set<std::string> paths;
    for (const Change& change : held) paths.insert(change.path);
    for (const Change& change : held) {
        auto next = paths.lower_bound(change.path + "/");
        bool has_more = change.path.empty() ? paths.size() > 1
                                            : next != paths.end() && layers::is_within(*next, change.path);
        if (!has_more) names.push_back(base::format("{} ({})", change.path, change.held));
    }
    return names;
}

std::string ask_user(std::string_view question) {
    // What was typed before the question was shown is not an answer to it.
    ::tcflush(STDIN_FILENO, TCIFLUSH);
    std::cerr << "agent-sandbox: " << question << ' ' << std::flush;
    std::string answer;
    if (!std::getline(std::cin, answer)) return "q";
    return std::string(base::trim(answer));
}

bool can_ask() {
    return ::isatty(STDIN_FILENO) == 1 && ::isatty(STDOUT_FILENO) == 1;
}

int diff_verb(const Invocation& call) {
    base::Result<Meant> meant = find_meant(call);
    if (!meant) return call.output.fail(meant.error());
    const Arguments& arguments = call.arguments;
    if (const std::string text = arguments.own_value("--checkpoint"); !text.empty()) {
        base::Result<layers::Checkpoint> known =
            layers::find_checkpoint(meant->layer, base::parse_number<unsigned>(text).value_or(0));
        if (!known) return call.output.fail(known.error());
        meant->layer.checkpoint = known->number;
    }
    base::Result<LayerView> view = look_at(call, meant->layer);
    if (!view) return call.output.fail(view.error());
    if (meant->layer.checkpoint == 0 && is_in_session(call, meant->layer))
        call.output.warning(
            base::format("the session of layer {} is still running", printable(meant->layer.about.title())));
    if (layers::may_be_damaged(meant->layer))
        call.output.protection("the machine went down before this layer was synced; check it closely");
    if (base::Status known = check_paths(*view, meant->paths); !known) return call.output.fail(known.error());
    if (arguments.has_own("--ignored")) include_ignored(*view);
    bool differs = std::ranges::any_of(
        view->changes, [&](const Change& change) { return is_selected(change, meant->paths); });
    const int code = differs && arguments.has_own("--exit-code") ? kFailed : 0;
    if (arguments.wants_json) {
        base::Json all = base::Json::array();
        for (const Change& change : view->changes) {
            if (is_selected(change, meant->paths)) all.push(change_json(change));
        }
        return call.output.result(all.dump() + "\n", code);
    }
    if (arguments.has_own("--names")) return call.output.result(names_text(*view, meant->paths), code);
    if (arguments.has_own("--deleted")) {
        std::string text;
        for (const std::string& path : deleted_files(*view, meant->paths)) text += printable(path) + "\n";
        return call.output.result(text, code);
    }
    if (arguments.has_own("--stat")) {
        base::Result<std::string> text = stat_text(*view, meant->paths);
        return text ? call.output.result(*text, code) : call.output.fail(text.error());
    }
    // In a pipe the reader may be git.
    bool is_literal = arguments.has_own("--binary") || ::isatty(STDOUT_FILENO) != 1;
    base::Result<std::string> patch =
        patch_of(*view, meant->paths, is_literal ? diff::BinaryFormat::literal : diff::BinaryFormat::summary);
    if (!patch) return call.output.fail(patch.error());
    int shown = show_patch(call.output, call.caller.environment, *patch);
    return shown != 0 ? shown : code;
}

int layers_verb(const Invocation& call) {
    if (!call.arguments.words.empty()) return wrong_words(call, "layers takes no words");
    base::Result<Sessions> sessions = find_sessions(call);  // an error inside a jail
    if (!sessions) return call.output.fail(sessions.error());
    base::Result<Workspace> workspace = find_workspace(call.caller, call.arguments);
    if (!workspace) return call.output.fail(workspace.error());
    const std::vector<layers::Layer> all = layers::Store(workspace->files.state_directory).list();
    base::Json json = base::Json::array();
    base::Table table;
    for (const layers::Layer& layer : all) {
        const layers::State state = layers::state_of(layer);
        base::Result<LayerView> view = look_at(call, layer);
        const std::string counts = view ? to_text(count_changes(*view)) : view.error().what;
        json.push(
            base::Json::object()
                .set("id", layer.about.id)
                .set("name", layer.about.name)
                .set("project", layer.about.project.str())
                .set("state", std::string(layers::to_text(state)))
                .set("start", base::utc_stamp(static_cast<std::time_t>(layer.about.start / 1'000'000'000)))
                .set("changes", view ? base::Json(view->changes.size()) : base::Json()));
        table.add({{printable(layer.about.title())},
                   {std::string(layers::to_text(state)), base::Style::dim},
                   {layer_age(layer.about.start), base::Style::dim},
                   {printable(shortened(layer.about.project, workspace->identity.home))},
                   {counts, base::Style::dim}});
    }
    if (call.arguments.wants_json) return call.output.result(json.dump() + "\n");
    if (all.empty()) return call.output.result("no layers\n");
    return call.output.result(table.text(0, call.output.colours_results()));
}

}  // namespace cli
