// SPDX-License-Identifier: MIT
// Lets git inside the jail change the configuration of its repository. Git writes "config.lock" and renames
// it onto "config", which is a mount point in the jail. The keeper answers that rename: it judges the new
// text (plan/project/git_config_change.h) and puts an accepted one in place itself.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/path.h"
#include "doorman/doorman.h"
#include "session/guard/cover_guard.h"
#include "session/guard/worktree_removal.h"

namespace session {

// What the keeper reports to the supervisor about one rename onto a configuration.
struct GitVerdict {
    base::Path path;  // of the configuration, outside
    bool is_accepted = false;
    std::string key;  // the refused one, or those that have changed; empty: the text itself is refused
    uint64_t line = 0;
    std::string why;
    // Remotes that existed before the first change and have another address now: "remote.origin".
    std::vector<std::string> moved_remotes;
    bool is_file = false;  // not a configuration: a rename onto another protected name
    bool ends_session = false;
};

// For each configuration, the remotes that existed before and have another address now.
using MovedRemotes = std::map<base::Path, std::vector<std::string>>;

// A message of the keeper that contains one verdict starts with this letter.
inline constexpr char kGitVerdict = 'g';
std::string encode(const GitVerdict& verdict);
std::optional<GitVerdict> decode_git_verdict(std::string_view message);

class GitConfigGate {
  public:
    // `socket` is connected to the supervisor.
    GitConfigGate(CoverWatch& covers, CoverGuard& guard, int socket)
        : covers_(covers), guard_(guard), socket_(socket) {}

    doorman::Hooks hooks();
    // The keeper moved this file out of the project (plan::kBareHead).
    void note_moved(const base::Path& head, bool ends_session);

  private:
    // A repository's configuration, as the host has it.
    struct Place {
        base::Path path;
        base::Fd directory;
    };
    std::optional<Place> find(const doorman::Rename& rename) const;
    doorman::Answer answer(const doorman::Rename& rename);
    doorman::Answer remove(const doorman::Removal& removal);
    void note_refused(const doorman::Rename& rename);
    doorman::Answer replace(const Place& place, const std::string& before, const std::string& after);
    doorman::Answer refuse(const Place& place, GitVerdict verdict);
    void report(GitVerdict verdict);

    CoverWatch& covers_;
    CoverGuard& guard_;
    int socket_;
    struct History {
        std::string first;               // the text before the first change
        std::vector<std::string> moved;  // as it was reported last
        int reports = 0;
    };
    std::map<base::Path, History> histories_;
    WorktreeRemoval worktrees_;
    std::set<std::string, std::less<>> names_;  // last components of covered names
};

}  // namespace session
