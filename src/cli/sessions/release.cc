// SPDX-License-Identifier: MIT
// `release`: lists what sessions left at protected names and what was moved out of the project, shows one
// thing, and puts it back or removes it.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>

#include "base/encoding/json.h"
#include "base/file.h"
#include "base/no_links.h"
#include "base/table.h"
#include "base/text.h"
#include "cli/arguments.h"
#include "cli/context.h"
#include "cli/output.h"
#include "cli/sessions/sessions.h"
#include "cli/verbs.h"
#include "review/names.h"
#include "review/walk.h"
#include "session/control/set_aside.h"
#include "session/guard/new_names.h"

namespace cli {
namespace {

using base::printable;
using session::Aside;

constexpr size_t kMostShown = 100'000;

// One line for each file that the review would name, with its path after it is put back.
class Content {
  public:
    explicit Content(const Aside& entry) : entry_(entry) {
        std::optional<struct stat> status = review::look_at(entry.place);
        if (!status) return;
        if (S_ISDIR(status->st_mode)) {
            look_into(entry.place);
        } else {
            add(entry.place, S_ISLNK(status->st_mode));
        }
    }

    const std::string& text() const { return text_; }

    // Why a part of it is not in the text; empty if the text is complete.
    const std::string& not_shown() const { return not_shown_; }

  private:
    void look_into(const base::Path& directory) {
        // The jail may have removed the mode bits of its owner. Those who know a name in it can use the file.
        const base::Fd open(base::open_without_links(directory, O_PATH | O_DIRECTORY));
        const session::OpenForMove readable(open.get());
        std::optional<std::vector<review::Name>> names = review::names_in(directory);
        if (!names) {
            const std::string path = printable(path_of(directory).str());
            text_ += base::format("  {}: it can't be read\n", path);
            not_shown_ = path + " can't be read, so that its content can't be shown";
            return;
        }
        for (const review::Name& name : *names) {
            if (!not_shown_.empty()) return;
            if (name.is_directory) {
                look_into(directory / name.text);
            } else {
                add(directory / name.text, name.is_link);
            }
        }
    }

    base::Path path_of(const base::Path& place) const {
        return entry_.path / place.relative_to(entry_.place);
    }

    void add(const base::Path& place, bool is_link) {
        if (++count_ > kMostShown) {
            not_shown_ = base::format("it has more than {} files, which are not all shown", kMostShown);
            return;
        }
        const base::Path path = path_of(place);
        const std::string_view relative = path.relative_to(entry_.project);
        review::Names::Match match = names_.find(relative, path.name());
        if (match.row == nullptr && is_link) match = names_.find_below(relative);
        const std::string why = match.row == nullptr ? entry_.why : std::string(match.row->reason);
        std::optional<struct stat> status = review::look_at(place);
        std::string what = is_link ? "a symbolic link" : "no file";
        if (status && S_ISREG(status->st_mode))
            what = base::counted(static_cast<uint64_t>(status->st_size), "byte", "bytes");
        text_ += base::format("  {} ({}): {}\n", printable(relative), what, printable(why));
    }

    const Aside& entry_;
    const review::Names names_;
    std::string text_, not_shown_;
    size_t count_ = 0;
};

base::Json json_of(const Aside& entry) {
    return base::Json::object()
        .set("id", entry.id)
        .set("path", entry.path.str())
        .set("project", entry.project.str())
        .set("reason", entry.why)
        .set("session", entry.session)
        .set("time", base::utc_stamp(static_cast<std::time_t>(entry.time)))
        .set("place", entry.place.str());
}

int list_aside(const Invocation& call, const std::vector<Aside>& entries, const base::Path& home) {
    if (call.arguments.wants_json) {
        base::Json all = base::Json::array();
        for (const Aside& entry : entries) all.push(json_of(entry));
        return call.output.result(all.dump() + "\n");
    }
    if (entries.empty()) return call.output.result("nothing was moved out of a project\n");
    base::Table table;
    for (const Aside& entry : entries) {
        table.add({{entry.id},
                   {base::utc_stamp(static_cast<std::time_t>(entry.time)), base::Style::dim},
                   {printable(shortened(entry.path, home))},
                   {printable(entry.why), base::Style::dim}});
    }
    return call.output.result(table.text(0, call.output.colours_results()));
}

bool is_confirmed(const Invocation& call, std::string_view question) {
    if (call.arguments.has_own("--yes")) return true;
    if (::isatty(STDIN_FILENO) != 1) return false;
    std::cerr << question << " [y/N] " << std::flush;
    std::string answer;
    std::getline(std::cin, answer);
    return answer == "y" || answer == "yes";
}

base::Error not_done(std::string what, std::string advice) {
    return {.what = std::move(what), .advice = std::move(advice), .exit_code = base::ExitCode::check_failed};
}

}  // namespace

int release_verb(const Invocation& call) {
    if (call.arguments.words.size() > 1) return wrong_words(call, "release takes one path");
    base::Result<Workspace> workspace = find_workspace(call.caller, call.arguments);
    if (!workspace) return call.output.fail(workspace.error());
    const std::string& state = workspace->files.state_directory;
    const base::Path& home = workspace->identity.home;
    const session::AsideStore store(state);
    const std::vector<Aside> entries = store.list();
    if (call.arguments.words.empty()) return list_aside(call, entries, home);

    const std::string& word = call.arguments.words.front();
    base::Result<base::Path> literal = path_from(word, home, call.caller.working_directory);
    // The last component is not followed: it may be the name of a link that was moved.
    base::Result<host::Tree::Resolved> directory = literal
                                                       ? call.caller.disk.resolve(literal->parent())
                                                       : base::Result<host::Tree::Resolved>(base::Error{});
    auto is_meant = [&](const Aside& entry) {
        return entry.id == word || (directory && entry.path == directory->path / literal->name());
    };
    auto found = std::ranges::find_if(entries, is_meant);
    if (found == entries.end())
        return call.output.fail(not_done(printable(word) + " was not moved out of a project",
                                         "'agent-sandbox release' lists what was"));
    if (call.arguments.wants_json) return call.output.result(json_of(*found).dump() + "\n");
    const std::string path = printable(shortened(found->path, home));
    const std::string place = printable(found->place.str());
    const Content content(*found);
    if (int shown = call.output.result(base::format("{}, now {}\n{}", path, place, content.text()));
        shown != 0)
        return shown;
    const bool is_removal = call.arguments.has_own("--remove");
    if (!is_removal && !content.not_shown().empty())
        return call.output.fail(not_done(
            content.not_shown(),
            base::format("nothing was changed; look at {} and move what you need, or add --remove", place)));
    if (!is_confirmed(call, is_removal ? "remove it for good?" : "put it back?")) {
        return call.output.fail(
            not_done("nothing was changed", base::format("look at it, then add --yes to {}",
                                                         is_removal ? "remove it for good" : "put it back")));
    }
    bool is_watched = !is_removal && session::NewNames::is_watched(state, found->path);
    if (is_watched)
        return call.output.fail(not_done("a session that runs in the project would move it away again",
                                         "put it back when that session has ended"));
    base::Status done = is_removal ? store.remove(*found) : store.put_back(*found);
    if (!done) return call.output.fail(done.error());
    return call.output.result(base::format("{} {}\n", path, is_removal ? "is removed" : "is back"));
}

}  // namespace cli
