// SPDX-License-Identifier: MIT
#include "session/search/search_guard.h"

#include <poll.h>
#include <signal.h>
#include <sys/inotify.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <thread>

#include "base/process/descriptors.h"
#include "session/search/jail_mounts.h"
#include "session/search/name_watch.h"
#include "session/search/project_walk.h"
#include "session/search/search_progress.h"

namespace session {
namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

// After a launch that has searched everything.
constexpr auto kBeforeSecondSearch = 50ms;
constexpr auto kBetweenWrites = 1s;
// If not every directory can be watched, the walk is repeated; it takes a small part of the time.
constexpr auto kBetweenWalks = 10s;
constexpr int kRestForEachWalk = 20;
constexpr int kStepsAtOnce = 32;
constexpr int kLeastImportant = 19;

volatile sig_atomic_t g_is_asked_to_end = 0;

void ask_to_end(int) {
    g_is_asked_to_end = 1;
}

// SIGTERM is delivered only while the guard waits for events.
sigset_t hold_back_end() {
    struct sigaction action = {};
    action.sa_handler = ask_to_end;
    ::sigaction(SIGTERM, &action, nullptr);
    sigset_t end, while_waiting;
    sigemptyset(&end);
    sigaddset(&end, SIGTERM);
    ::sigprocmask(SIG_BLOCK, &end, &while_waiting);
    sigdelset(&while_waiting, SIGTERM);
    return while_waiting;
}

class Search {
  public:
    Search(const plan::Plan& plan, JailMounts& mounts, NameWatch& watch, SearchProgress& progress,
           KnownPlaces& known)
        : watch_(watch),
          progress_(progress),
          known_(known),
          walk_(plan, mounts, watch, progress),
          late_(plan, mounts, watch, progress) {
        write();
        next_write_ = Clock::now();
    }

    [[noreturn]] void go_on() {
        next_walk_ = Clock::now();
        while (true) {
            const auto longest = std::chrono::milliseconds(patience());
            const short ready = base::await_events(watch_.descriptor(), POLLIN, longest, while_waiting_);
            if (ready == 0 && errno != ETIMEDOUT && errno != EINTR) ::_exit(1);
            if (g_is_asked_to_end != 0) {
                write();
                ::_exit(0);
            }
            if (ready != 0) hear();
            if (is_walking_) {
                go_a_few_steps();
            } else if (Clock::now() >= next_walk_) {
                begin();
            }
            bool is_due = walk_.changes() != written_ && Clock::now() >= next_write_;
            if (is_due) write();
        }
    }

  private:
    int patience() const {
        if (is_walking_) return 0;
        Clock::time_point until = next_walk_;
        if (walk_.changes() != written_) until = std::min(until, next_write_);
        if (until == Clock::time_point::max()) return -1;
        auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now());
        return static_cast<int>(std::clamp<int64_t>(left.count(), 0, 3'600'000));
    }

    void begin() {
        is_walking_ = true;
        must_walk_again_ = false;
        next_walk_ = Clock::time_point::max();
        began_ = Clock::now();
        late_.look();
        walk_.start();
    }

    void go_a_few_steps() {
        for (int i = 0; i < kStepsAtOnce && is_walking_; ++i) is_walking_ = walk_.step();
        if (must_walk_again_ && !walk_.is_among_sources()) return begin();
        if (walk_.is_among_outputs() && !is_patient_) {
            is_patient_ = true;
            progress_.say_complete();
            ::setpriority(PRIO_PROCESS, 0, kLeastImportant);
        }
        if (is_walking_) return;
        progress_.say_complete();
        write();
        if (watch_.has_run_out()) progress_.say_unwatched();
        if (watch_.sees_all()) return;
        auto rest = std::max<Clock::duration>(kBetweenWalks, (Clock::now() - began_) * kRestForEachWalk);
        next_walk_ = Clock::now() + rest;
    }

    void hear() {
        bool is_whole = watch_.take([&](const NameWatch::News& news) {
            late_.hear(news);
            walk_.hear(news);
        });
        is_walking_ = true;
        if (!is_whole) walk_again();
    }

    // Events were lost. Threat: a jail that makes very many names all the time would start the walk again and
    // again, and it would never reach its end (tests/jail/floods.bats).
    void walk_again() {
        must_walk_again_ = walk_.is_among_sources();
        if (must_walk_again_) return late_.look();
        begin();
    }

    void write() {
        known_.write(walk_.findings());
        written_ = walk_.changes();
        progress_.count_written(written_);
        next_write_ = Clock::now() + kBetweenWrites;
    }

    const sigset_t while_waiting_ = hold_back_end();
    NameWatch& watch_;
    SearchProgress& progress_;
    KnownPlaces& known_;
    ProjectWalk walk_;
    LateNames late_;
    bool is_walking_ = false;
    bool must_walk_again_ = false;
    bool is_patient_ = false;
    Clock::time_point began_, next_walk_ = Clock::time_point::max(), next_write_;
    size_t written_ = 0;
};

}  // namespace

bool SearchGuard::is_wanted() const {
    const plan::Search& search = plan_.search;
    return search.has_guard && (!search.mask.empty() || !search.late_names.empty() || !search.is_complete);
}

bool SearchGuard::open_watch() {
    if (is_wanted()) watch_ = base::Fd(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
    return !is_wanted() || watch_;
}

void SearchGuard::start(base::Fd mount_namespace, const std::vector<backends::Cover>& covers) {
    if (!is_wanted() || mount_namespace_ || process_ > 0) return;
    mount_namespace_ = std::move(mount_namespace);
    due_ = Clock::now() + (plan_.search.is_complete ? kBeforeSecondSearch : 0ms);
    take_turn(covers);
}

int SearchGuard::patience() const {
    if (!mount_namespace_) return -1;
    auto left = std::chrono::ceil<std::chrono::milliseconds>(due_ - Clock::now());
    return static_cast<int>(std::max<int64_t>(left.count(), 0));
}

void SearchGuard::take_turn(const std::vector<backends::Cover>& covers) {
    if (patience() != 0) return;
    process_ = ::fork();
    if (process_ == 0) run(covers);
    if (process_ < 0) progress_.say_failed();
    mount_namespace_.reset();
}

// The process writes what it has found, unless a file system keeps it waiting. Where it was never started,
// the launch has found everything.
void SearchGuard::end() {
    if (mount_namespace_) {
        mount_namespace_.reset();
        KnownPlaces(state_directory_, plan_.project).write(plan_.search.findings);
    }
    if (process_ <= 0) return;
    ::kill(process_, SIGTERM);
    const Clock::time_point latest = Clock::now() + kLongestSearchEnd;
    while (::waitpid(process_, nullptr, WNOHANG) == 0) {
        if (Clock::now() >= latest) ::kill(process_, SIGKILL);
        std::this_thread::sleep_for(1ms);
    }
    process_ = -1;
}

void SearchGuard::run(const std::vector<backends::Cover>& covers) {
    const pid_t keeper = ::getppid();
    ::prctl(PR_SET_NAME, "asb-search");
    base::close_others({mount_namespace_.get(), watch_.get()});
    base::fill_standard_descriptors();
    if (!watch_) (void)open_watch();
    NameWatch watch(std::move(watch_));
    KnownPlaces known(state_directory_, plan_.project);
    JailMounts mounts(covers);
    if (!mounts.enter(mount_namespace_.get())) {
        progress_.say_failed();
        ::_exit(1);
    }
    // Entering a user namespace may clear PDEATHSIG, so set it now.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != keeper) ::_exit(1);
    mount_namespace_.reset();
    Search search(plan_, mounts, watch, progress_, known);
    search.go_on();
}

}  // namespace session
