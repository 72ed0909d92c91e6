// SPDX-License-Identifier: MIT
// `keep [PATH…]`: lists what the last session discarded with its private home directory, or copies it to
// where the command believed that it was.
#include "cli/sessions/keep.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>

#include <algorithm>
#include <cerrno>
#include <optional>

#include "base/file.h"
#include "base/inside/jail_files.h"
#include "base/no_links.h"
#include "base/text.h"
#include "cli/arguments.h"
#include "cli/context.h"
#include "cli/sessions/keep_rules.h"
#include "cli/sessions/sessions.h"
#include "cli/verbs.h"
#include "monitor/cells.h"
#include "session/discarded/copy_tree.h"

namespace cli {
namespace {

using session::Discarded;
using session::DiscardedPath;

constexpr size_t kMostTold = 10;
constexpr size_t kMostLeftOutNamed = 10;
constexpr size_t kShortId = 8;

std::string clock_text(std::time_t moment) {
    struct tm local = {};
    char text[8];
    ::localtime_r(&moment, &local);
    return std::string(text, std::strftime(text, sizeof text, "%H:%M", &local));
}

std::string size_text(uint64_t bytes) {
    constexpr uint64_t kSmall = 1000;
    return bytes < kSmall ? base::counted(bytes, "byte", "bytes")
                          : monitor::bytes_text(static_cast<int64_t>(bytes));
}

// "~/code/wt  214 files, 3.1M"
std::string line_of(const DiscardedPath& one, const base::Path& home) {
    std::string text = base::format("{}  {}{}, {}", base::printable(shortened(one.path, home)),
                                    one.is_counted ? "" : "more than ",
                                    base::counted(one.files, "file", "files"), size_text(one.bytes));
    if (one.unreadable > 0) text += base::format("; {} without permission to read", one.unreadable);
    return one.is_stored ? text : base::format("{}; not kept: {}", text, one.obstacle);
}

std::vector<std::string> lines_of(const Discarded& discarded, size_t most) {
    std::vector<std::string> lines;
    for (const DiscardedPath& one : discarded.paths) {
        if (lines.size() == most) break;
        lines.push_back("  " + line_of(one, discarded.home));
    }
    const size_t rest = discarded.paths.size() - lines.size();
    if (rest > 0) lines.push_back(base::format("  and {} more: 'agent-sandbox keep' lists them", rest));
    if (!discarded.is_complete) lines.emplace_back("  and more that were not looked at: there are too many");
    return lines;
}

bool has_stored(const Discarded& discarded) {
    return std::ranges::any_of(discarded.paths, &DiscardedPath::is_stored);
}

std::string to_text(const std::vector<Discarded>& all, const Discarded& chosen) {
    std::string text = base::format("discarded by session {} in {}\n", chosen.session.substr(0, kShortId),
                                    base::printable(shortened(chosen.project, chosen.home)));
    for (const std::string& line : lines_of(chosen, chosen.paths.size())) text += line + "\n";
    if (has_stored(chosen))
        text += base::format(
            "'agent-sandbox keep PATH…' copies it to that path, 'keep ~' all of it, '--to DIR' elsewhere; "
            "until "
            "{}\n",
            clock_text(chosen.until()));
    for (const Discarded& other : all) {
        if (other.session == chosen.session) continue;
        text += base::format("also: agent-sandbox keep --session {}  ({}, {})\n",
                             other.session.substr(0, kShortId),
                             base::printable(shortened(other.project, other.home)),
                             base::counted(other.paths.size(), "path", "paths"));
    }
    return text;
}

base::Result<const Discarded*> choose(const std::vector<Discarded>& all, const std::string& id) {
    base::Error missing{.what = "no session of the last hour has discarded files of its home directory",
                        .exit_code = base::ExitCode::check_failed};
    if (all.empty()) return missing;
    if (id.empty() || id == "last") return &all.front();
    for (const Discarded& one : all) {
        if (one.session.starts_with(id)) return &one;
    }
    missing.what = base::format("session '{}' has no discarded files", base::printable(id));
    missing.advice = "agent-sandbox keep lists those of the last one";
    return missing;
}

class Keeping {
  public:
    Keeping(const Invocation& call, const Workspace& workspace, const Discarded& discarded)
        : call_(call),
          workspace_(workspace),
          discarded_(discarded),
          rules_(workspace, call.caller, discarded),
          stored_(
              base::Path::known(session::stored_home(workspace.files.state_directory, discarded.session))) {}

    base::Status choose_directory(const std::string& text) {
        if (text.empty()) return base::success();
        base::Result<base::Path> path =
            path_from(text, workspace_.identity.home, call_.caller.working_directory);
        if (!path) return path.error();
        base::Result<host::Tree::Resolved> resolved = call_.caller.disk.resolve(*path);
        if (!resolved) return resolved.error();
        directory_ = resolved->path;
        return base::success();
    }

    // A path of the list, one below it, or a directory that contains some.
    base::Status keep(const std::string& word) {
        base::Result<base::Path> asked =
            path_from(word, workspace_.identity.home, call_.caller.working_directory);
        if (!asked) return asked.error();
        // The jail has the physical path of the home directory.
        if (asked->is_within(workspace_.identity.home))
            asked = discarded_.home / asked->relative_to(workspace_.identity.home);
        bool is_found = false;
        for (const DiscardedPath& one : discarded_.paths) {
            bool is_part = asked->is_within(one.path);
            if (!is_part && !one.path.is_within(*asked)) continue;
            is_found = true;
            if (base::Status kept = one.is_stored ? copy(is_part ? *asked : one.path) : not_stored(one);
                !kept)
                return kept;
        }
        if (is_found) return base::success();
        return base::Error{.what = base::format("{} is not among the discarded files", base::printable(word)),
                           .advice = "agent-sandbox keep lists them",
                           .exit_code = base::ExitCode::check_failed};
    }

    int finish() const {
        std::string text;
        for (const std::string& line : done_) text += line + "\n";
        for (size_t i = 0; i < std::min(left_out_.size(), kMostLeftOutNamed); ++i)
            text += left_out_[i] + "\n";
        if (left_out_.size() > kMostLeftOutNamed)
            text += base::format("and {} more were left out\n", left_out_.size() - kMostLeftOutNamed);
        if (!left_out_.empty())
            text += base::format("what was left out is in {} until {}\n", base::printable(stored_.str()),
                                 clock_text(discarded_.until()));
        return call_.output.result(text, left_out_.empty() ? 0 : kFailed);
    }

  private:
    base::Status not_stored(const DiscardedPath& one) {
        left_out_.push_back(base::format("not kept: {}", line_of(one, discarded_.home)));
        return base::success();
    }

    base::Status copy(const base::Path& path) {
        const base::Path stored = stored_ / path.relative_to(discarded_.home);
        const base::Path target = directory_ ? *directory_ / path.name() : path;
        base::Fd from(base::open_without_links(stored.parent(), O_RDONLY | O_DIRECTORY));
        struct stat status;
        if (!from ||
            ::fstatat(from.get(), std::string(path.name()).c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0)
            return base::Error{.what = base::format("{} is not among the discarded files",
                                                    base::printable(shortened(path, discarded_.home))),
                               .exit_code = base::ExitCode::check_failed};
        const KeepRules::Copy route{stored, target};
        auto leave_out = [&](const std::string& relative, const std::string& why) {
            left_out_.push_back(
                base::format("left out: {}: {}",
                             base::printable(shortened(target.parent() / relative, discarded_.home)), why));
        };
        const std::string name(path.name());
        // Before a directory is made on the way to it.
        if (std::string why = rules_.obstacle(route, name, ""); !why.empty()) {
            leave_out(name, why);
            return base::success();
        }
        const bool replaces = call_.arguments.has_own("--force");
        if (!replaces && ::lstat(target.c_str(), &status) == 0) {
            leave_out(name, "exists; --force replaces its files, --to DIR copies it elsewhere");
            return base::success();
        }
        base::Status made = base::make_directories_without_links(target.parent(), 0777);
        base::Fd to(made ? base::open_without_links(target.parent(), O_RDONLY | O_DIRECTORY) : -1);
        if (!to) {
            leave_out(name, made ? "its directory can't be opened" : made.error().line());
            return base::success();
        }
        const size_t left_out_before = left_out_.size();
        const session::TreeWalk walk(from.get(), kDeepest, session::TreeWalk::Clock::time_point::max());
        session::TreeCopy tree(walk, {.replaces = replaces,
                                      .obstacle =
                                          [&](const std::string& relative, const std::string& link) {
                                              return rules_.obstacle(route, relative, link);
                                          },
                                      .on_left_out = leave_out});
        if (base::Status copied = tree.copy(from.get(), to.get(), name); !copied) return copied;
        const bool is_kept = tree.files() > 0 || left_out_.size() == left_out_before;
        if (!is_kept) return base::success();
        done_.push_back(base::format("kept: {}  {}", base::printable(shortened(target, discarded_.home)),
                                     base::counted(tree.files(), "file", "files")));
        return base::success();
    }

    static constexpr size_t kDeepest = 200;

    const Invocation& call_;
    const Workspace& workspace_;
    const Discarded& discarded_;
    const KeepRules rules_;
    const base::Path stored_;
    std::optional<base::Path> directory_;  // of --to
    std::vector<std::string> done_, left_out_;
};

}  // namespace

void tell_discarded(const Output& output, const Discarded& discarded) {
    if (discarded.is_empty()) return;
    // Without a terminal, too: a script that starts an agent loses work otherwise, and its log would not show
    // it.
    auto tell = [&](const std::string& text) {
        output.has_terminal() ? output.information(text) : output.warning(text);
    };
    tell(has_stored(discarded)
             ? base::format(
                   "written outside the project and discarded; until {} 'agent-sandbox keep PATH' brings "
                   "it back:",
                   clock_text(discarded.until()))
             : "written outside the project and discarded:");
    for (const std::string& line : lines_of(discarded, kMostTold)) tell(line);
}

int keep_verb(const Invocation& call) {
    if (base::file_exists(base::own_path(base::kOwnProgram)))
        return call.output.fail(base::Error{.what = "discarded files of sessions are outside of the jail",
                                            .advice = "call keep in another terminal",
                                            .exit_code = base::ExitCode::usage});
    base::Result<Workspace> workspace = find_workspace(call.caller, call.arguments);
    if (!workspace) return call.output.fail(workspace.error());
    std::vector<Discarded> all = session::read_discarded(workspace->files.state_directory, ::time(nullptr));
    base::Result<const Discarded*> chosen = choose(all, call.arguments.own_value(kSessionFlag));
    if (!chosen) return call.output.fail(chosen.error());
    const std::string directory = call.arguments.own_value("--to");
    if (call.arguments.words.empty()) {
        if (!directory.empty() || call.arguments.has_own("--force"))
            return wrong_words(call, "keep needs to know what to copy: agent-sandbox keep ~ copies all");
        return call.output.result(to_text(all, **chosen));
    }
    Keeping keeping(call, *workspace, **chosen);
    if (base::Status known = keeping.choose_directory(directory); !known)
        return call.output.fail(known.error());
    for (const std::string& word : call.arguments.words) {
        if (base::Status kept = keeping.keep(word); !kept) {
            (void)keeping.finish();
            return call.output.fail(kept.error());
        }
    }
    return keeping.finish();
}

}  // namespace cli
