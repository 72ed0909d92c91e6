// SPDX-License-Identifier: MIT
// A forked process that outlives the supervisor. Where the supervisor was killed, it waits for the jail's
// death and does what the supervisor would have done: it takes placeholders and control group away and sets
// the terminal right. In either case it empties the trash afterwards, which may take its time then. While the
// jail runs it covers again what somebody outside has bared (cover_watch.h).
#pragma once

#include <ctime>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "backends/cover_again.h"
#include "base/file.h"
#include "session/cgroup.h"
#include "session/cover_guard.h"
#include "session/cover_watch.h"
#include "session/place.h"
#include "session/placeholders.h"
#include "session/search_guard.h"
#include "session/session_directory.h"
#include "session/terminal.h"

namespace session {

// What must not be left as it is when a jail is dead.
struct Kept {
    Placeholders& placeholders;
    Terminal& terminal;
    std::optional<Cgroup>& cgroup;
    Place& place;
    SessionDirectory& directory;
    CoverWatch covers;
    SearchGuard& search;

    bool is_empty() const {
        return placeholders.is_empty() && !terminal && !cgroup && place.is_empty() &&
               covers.covers().empty() && !search.is_wanted();
    }
};

class Keeper {
  public:
    // `keep`: how long records stay, in seconds.
    Keeper(std::string state_directory, std::time_t keep)
        : state_directory_(std::move(state_directory)), keep_(keep) {}
    ~Keeper() { dismiss(); }
    Keeper(const Keeper&) = delete;
    Keeper& operator=(const Keeper&) = delete;

    // While the jail is built. Does nothing where there is nothing to keep.
    base::Status start(Kept kept);
    // The jail is built: its pid 1, as a descriptor or minus errno, and its mounts, where they can be had.
    // Before Linux 5.3 there is no such descriptor: then nobody guards, and the next launch cleans up.
    base::Status guard(int stage, const base::Fd& mounts);
    // At its end it also looks for what bubblewrap left of killed sessions. All processes are looked at for
    // it.
    void look_for_builders() { looks_for_builders_ = true; }
    pid_t process() const { return process_; }  // -1: there is none
    // Readable when there are reports; -1: none will come.
    int events() const { return has_reports_ ? life_.get() : -1; }
    // Reads what the keeper reported. The result has those names that the user must know of at once.
    std::vector<BareName> take_reports();
    // All names that were bare for a moment, each once.
    std::vector<backends::Uncovered> uncovered() const;
    // The supervisor has done its part, or there was none to do. `has_jobs`: sessions in jobs that this one
    // submitted may be dying.
    void dismiss(bool has_jobs = false);

  private:
    void tidy() const;
    void outlast_jobs(Placeholders& placeholders) const;

    std::string state_directory_;
    std::time_t keep_;
    std::string runtime_place_;  // where the directories of sessions lie; empty: nowhere
    base::Fd life_;              // of a pair of sockets; it closes when the supervisor ends
    pid_t process_ = -1;
    std::map<base::Path, bool> bare_;  // names that were bare; whether each was covered again
    bool has_reports_ = true;
    bool is_dismissed_ = false;
    bool looks_for_builders_ = false;
};

}  // namespace session
