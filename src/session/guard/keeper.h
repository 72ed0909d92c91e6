// SPDX-License-Identifier: MIT
// A forked process that outlives the supervisor. If the supervisor is killed, the keeper waits for the jail's
// death and does the supervisor's work: it removes placeholders and cgroup and restores the terminal. In
// either case it empties the trash afterwards, when that may take long. While the jail runs it covers names
// again that another process outside uncovered (cover_guard.h), and answers system calls of the command
// (helpers/outside_answers.h).
#pragma once

#include <chrono>
#include <ctime>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backends/covers.h"
#include "base/file.h"
#include "doorman/answered_calls.h"
#include "session/control/session_directory.h"
#include "session/directories.h"
#include "session/discarded/private_home.h"
#include "session/guard/cover_guard.h"
#include "session/guard/git_config_gate.h"
#include "session/guard/new_names.h"
#include "session/guard/placeholders.h"
#include "session/limits/limits.h"
#include "session/search/search_guard.h"
#include "session/terminal.h"

namespace session {

// State to clean up after the jail exits.
struct Cleanup {
    Placeholders& placeholders;
    NewNames& new_names;
    Terminal& terminal;
    std::optional<Cgroup>& cgroup;
    PrivateDirectory& private_directory;
    SessionDirectory& directory;
    CoverWatch covers;
    SearchGuard& search;
    PrivateHome& home;
    const doorman::AnsweredCalls& answers;

    bool is_empty() const {
        return placeholders.is_empty() && new_names.is_empty() && !terminal && !cgroup &&
               private_directory.is_empty() && covers.covers().empty() && !search.is_wanted() &&
               !answers.is_wanted;
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

    // Call it while the jail is built. Does nothing if there is nothing to clean up.
    base::Status start(Cleanup cleanup);
    // The jail is built: `stage` is the pidfd of its pid 1 or minus errno; `mounts` is its mount namespace,
    // if it can be opened; `listener` has the calls that the keeper answers, if any; `home` is the private
    // home directory, whose files the keeper stores if the supervisor is killed. Before Linux 5.3 there are
    // no pidfds: then the keeper does not guard, and the next launch cleans up.
    struct Guarded {
        const base::Fd& mounts;
        const base::Fd& listener;
        const PrivateHome& home;
    };
    base::Status guard(int stage, const Guarded& guarded);
    // When it ends, the keeper also looks for bubblewrap processes of killed sessions. It reads all of /proc
    // for that.
    void look_for_builders() { looks_for_builders_ = true; }
    // When the jail is dead, the files of its layer are written to the disk (layers/store.h).
    void sync_at_end(const std::string& layer) { layer_ = layer; }
    pid_t process() const { return process_; }  // -1: not running
    // True if it was killed, as far as its reports have been read.
    bool was_lost() const { return process_ > 0 && !has_reports_ && !is_dismissed_; }
    // Readable when there are reports; -1: no more will come.
    int events() const { return has_reports_ ? life_.get() : -1; }
    // Reads the keeper's reports. Returns the names that the user must learn about at once.
    std::vector<BareName> take_reports();
    // The changes of git configurations among the reports that were read, each once.
    std::vector<GitVerdict> take_verdicts() { return std::exchange(verdicts_, {}); }
    // Programs among the reports that were refused namespaces of their own, each once.
    std::vector<std::string> take_refused_programs() { return std::exchange(refused_programs_, {}); }
    // For the end of the jail: waits until there are reports, at most until `latest`. False: the last one was
    // read, or none will come.
    bool await_reports(std::chrono::steady_clock::time_point latest) const;
    // After the end of the jail: why names that were uncovered may be missing in the reports; empty: they are
    // complete.
    std::string_view lost_reports() const;
    // All names that were uncovered for a moment, each once.
    std::vector<backends::Uncovered> uncovered() const;
    // The supervisor has done its part, or had none. `has_jobs`: sessions in jobs that this one submitted may
    // be dying.
    void dismiss(bool has_jobs = false);

  private:
    void tidy() const;
    void outlast_jobs(Placeholders& placeholders) const;

    std::string state_directory_;
    std::time_t keep_;
    std::string layer_;          // its directory; empty: none
    std::string runtime_place_;  // contains the directories of sessions; empty: not known
    base::Fd life_;              // of a pair of sockets; it closes when the supervisor ends
    pid_t process_ = -1;
    std::map<base::Path, bool> bare_;  // names that were uncovered; whether each was covered again
    std::vector<GitVerdict> verdicts_;
    std::vector<std::string> refused_programs_;
    bool has_reports_ = true;
    bool is_guarding_ = false;  // it has the jail's mounts
    bool is_complete_ = false;  // the last report was read
    bool is_dismissed_ = false;
    bool looks_for_builders_ = false;
};

}  // namespace session
