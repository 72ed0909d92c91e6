// SPDX-License-Identifier: MIT
// Stops every process of a running jail from outside, for a moment: for a copy of its files.
//
// Theory of operation. Each thread is traced (PTRACE_SEIZE, PTRACE_INTERRUPT). The caller may do that because
// its user namespace is the parent of the jail's. SIGSTOP would not hold: a timer of a stopped process can
// send it SIGCONT, which also ends a stop that its parent waits for. A traced thread stays stopped until this
// process lets it go, even if it gets SIGCONT; if this process is killed, the kernel lets all of them go.
// Parents in the jail are not notified.
//
// The first process of the jail is ours and runs on: it starts commands that `exec` adds. is_whole() shows
// whether it did that meanwhile.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <string>

#include "base/file.h"
#include "base/path.h"
#include "base/result.h"

namespace session {

class FrozenJail {
  public:
    using Clock = std::chrono::steady_clock;
    // A jail is frozen this long at most.
    static constexpr std::chrono::seconds kLongest{5};

    // `supervisor` is the process of the session.
    static base::Result<FrozenJail> freeze(pid_t supervisor);
    FrozenJail(FrozenJail&& other) noexcept;
    FrozenJail(const FrozenJail&) = delete;
    FrozenJail& operator=(const FrozenJail&) = delete;
    FrozenJail& operator=(FrozenJail&&) = delete;
    ~FrozenJail() { thaw(); }

    void thaw();
    Clock::time_point end() const { return since_ + kLongest; }
    Clock::time_point since() const { return since_; }

    // No process has been added to the jail since it was frozen, and none has ended.
    bool is_whole() const;

    // The layer that the jail has in the place of its project. Threat: a process of the jail shows a tree of
    // its own there, in a namespace that it has made.
    struct Wanted {
        base::Path path;
        uint64_t mounts = 0;  // inode of the jail's mount namespace
        int clone = -1;       // the directory that is mounted there; -1: an overlay
    };
    base::Result<base::Fd> open_project(const Wanted& wanted) const;

  private:
    explicit FrozenJail(pid_t supervisor) : supervisor_(supervisor) {}
    bool stop_all(Clock::time_point end);
    bool seize_new(bool& found);
    bool await_stops() const;
    struct Thread;
    static void look_at(pid_t thread, const Thread& state);

    struct Thread {
        mutable bool is_stopped = false;
        mutable bool is_dead = false;
        mutable int signal = 0;        // that it was about to get
        mutable std::string activity;  // when it had stopped
    };

    pid_t supervisor_;
    std::map<pid_t, Thread> threads_;
    std::string reaped_;  // counters of the first process about children that have ended
    pid_t obstacle_ = 0;  // a thread that could not be stopped
    Clock::time_point since_{};
};

}  // namespace session
