// SPDX-License-Identifier: MIT
#include "session/guard/keeper.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <iterator>
#include <span>
#include <thread>
#include <utility>

#include "base/inside/paths_inside.h"
#include "base/path.h"
#include "base/process/descriptors.h"
#include "base/process/pass_descriptors.h"
#include "base/process/release_memory.h"
#include "base/remove_tree.h"
#include "doorman/doorman.h"
#include "session/control/known_sessions.h"
#include "session/control/named_socket.h"
#include "session/control/old_logs.h"
#include "session/control/record.h"
#include "session/guard/stale_bwrap.h"
#include "session/guard/trash.h"

namespace session {
namespace {

constexpr int kLongestJailEnd = 10'000;  // milliseconds
// Messages of the supervisor to its keeper: what to guard, or that it may finish. The first descriptor of
// kGuard is pid 1; behind kGuard, one letter for each further descriptor.
constexpr char kGuard = 'g';
constexpr char kMounts = 'm';
constexpr char kListener = 'l';
constexpr char kDone = 'd';
constexpr char kDoneWithJobs = 'j';
constexpr char kKilled = '\0';  // never sent: the supervisor was killed
// Time between two checks for jobs that have ended; each is twice as long as the one before.
constexpr std::chrono::milliseconds kFirstPause{20};
constexpr std::chrono::milliseconds kLongestPause{2560};

bool becomes_readable(int fd, int timeout) {
    struct pollfd watched = {fd, POLLIN, 0};
    bool has_rested = false;
    int ready = 0;
    while ((ready = base::poll_and_rest(&watched, 1, timeout, has_rested)) < 0 && errno == EINTR) continue;
    return ready > 0;
}

// Of two times to wait, of which -1 is without an end.
int shorter(int one, int other) {
    return one < 0 || other < 0 ? std::max(one, other) : std::min(one, other);
}

// Without mounts nothing can be covered again.
void take_charge(Cleanup& cleanup, base::PassedDescriptors& received,
                 std::optional<doorman::Doorman>& doorman) {
    bool has_mounts = false;
    for (size_t i = 1; i < std::min(received.note.size(), received.descriptors.size()); ++i) {
        base::Fd& passed = received.descriptors[i];
        if (received.note[i] == kListener) {
            doorman.emplace(cleanup.answers, std::move(passed));
        } else if (received.note[i] == kMounts) {
            has_mounts = true;
            cleanup.search.start(base::Fd(::fcntl(passed.get(), F_DUPFD_CLOEXEC, 3)),
                                 cleanup.covers.covers());
            cleanup.covers.set_mount_namespace(std::move(passed));
        }
    }
    if (!has_mounts) cleanup.covers.close();
}

// Returns the supervisor's last message; kKilled if it ended without one.
char attend(Cleanup& cleanup, GitOrders orders, int life, base::Fd& stage) {
    using Clock = std::chrono::steady_clock;
    std::optional<doorman::Doorman> doorman;
    Clock::time_point look_due = Clock::time_point::max();
    CoverGuard guard(cleanup.covers, cleanup.placeholders, std::move(orders), life);
    bool has_rested = false;
    bool is_jail_dead = false;
    while (true) {
        // Events before the mount namespace is known stay in the queue.
        bool has_covers = !cleanup.covers.is_empty();
        struct pollfd watched[] = {{life, POLLIN, 0},
                                   {has_covers ? cleanup.covers.events() : -1, POLLIN, 0},
                                   {is_jail_dead ? -1 : stage.get(), POLLIN, 0},
                                   {doorman ? doorman->events() : -1, POLLIN, 0}};
        const int until_look = guard.patience();
        const int patience = shorter(until_look, cleanup.search.patience());
        look_due = until_look < 0 ? Clock::time_point::max()
                                  : std::min(look_due, Clock::now() + std::chrono::milliseconds(until_look));
        int ready = base::poll_and_rest(watched, std::size(watched), patience, has_rested);
        if (ready < 0 && errno != EINTR) return kKilled;
        // The jail is dead: report, cover no more names, and make no more placeholders. The supervisor waits
        // for the report.
        if (watched[2].revents != 0) {
            is_jail_dead = true;
            guard.finish();
            cleanup.covers.say_over();
            cleanup.search.end();
        }
        if (watched[1].revents != 0 && !is_jail_dead) guard.take_events();
        // Threat: a jail whose calls arrive all the time would put off the look (tests/jail/covers.bats).
        if ((ready == 0 && patience == until_look) || Clock::now() >= look_due) {
            guard.look();
            look_due = Clock::time_point::max();
        }
        cleanup.search.take_turn(cleanup.covers.covers());
        // One call in each round: covering a file again has priority.
        if (watched[3].revents != 0) doorman->answer();
        if (watched[0].revents == 0) continue;
        base::Result<base::PassedDescriptors> said = base::receive_descriptors(life);
        if (!said || said->note.empty()) return kKilled;
        if (said->note[0] != kGuard) return said->note[0];
        stage = std::move(said->descriptors.front());
        take_charge(cleanup, *said, doorman);
    }
}

// Neither the caller's terminal nor a kill of its process group must reach this process, and it closes all of
// the caller's descriptors. The terminal can be restored only from within its session.
void step_aside(const Cleanup& cleanup, int life) {
    // SIGCONT: if this process was stopped, it continues, because its work is due now.
    ::prctl(PR_SET_PDEATHSIG, SIGCONT);
    if (cleanup.terminal) {
        ::setpgid(0, 0);
    } else {
        ::setsid();
    }
    (void)!::chdir("/");
    // Not the lock of the session's directory: it shows that the supervisor lives.
    base::close_others({cleanup.placeholders.descriptor(), cleanup.placeholders.project_descriptor(),
                        cleanup.terminal.descriptor(), cleanup.private_directory.descriptor(),
                        cleanup.covers.events(), cleanup.search.watch(), life,
                        cleanup.answers.socket_factory});
    base::fill_standard_descriptors();
}

}  // namespace

base::Status Keeper::start(Cleanup cleanup) {
    if (base::Result<base::Path> own = base::Path::parse(cleanup.directory.path()); own)
        runtime_place_ = own->parent().parent().str();
    if (cleanup.is_empty()) return base::success();
    int ends[2];
    // Not a pipe: a write to a pipe whose reader was killed raises SIGPIPE.
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return base::system_error("make a socket", errno);
    base::Fd life(ends[0]);
    life_ = base::Fd(ends[1]);
    // Not in the keeper: on a busy machine the command may run before it does.
    GitOrders orders;
    orders.read(cleanup.covers.covers());
    process_ = ::fork();
    if (process_ < 0) {
        life_.reset();
        return base::system_error("start the process that looks after the session", errno);
    }
    if (process_ != 0) {
        cleanup.search.close_watch();
        return base::success();
    }
    step_aside(cleanup, life.get());
    base::Fd stage;
    // If the jail does not die, or was not built yet, its mount points stay; the next launch removes them.
    char said = attend(cleanup, std::move(orders), life.get(), stage);
    cleanup.search.end();
    if (said == kKilled && stage && becomes_readable(stage.get(), kLongestJailEnd)) {
        cleanup.terminal.recover_for_the_dead();
        cleanup.placeholders.release();
        if (cleanup.cgroup) cleanup.cgroup->remove();
        cleanup.private_directory.remove();
        if (!cleanup.directory.is_empty()) base::remove_tree(cleanup.directory.path());
    }
    // Last, because it takes time: the process that killed the supervisor may kill this one next.
    cleanup.covers.close();
    tidy();
    if (said == kDoneWithJobs) outlast_jobs(cleanup.placeholders);
    ::_exit(0);
}

base::Status Keeper::guard(int stage, const base::Fd& mounts, const base::Fd& listener) {
    if (!life_ || stage == -ENOSYS) return base::success();
    if (stage < 0) return base::system_error("watch over the jail", -stage);
    is_guarding_ = static_cast<bool>(mounts);
    std::string note(1, kGuard);
    std::vector<int> passed = {stage};
    auto add = [&](const base::Fd& descriptor, char letter) {
        if (!descriptor) return;
        passed.push_back(descriptor.get());
        note += letter;
    };
    add(mounts, kMounts);
    add(listener, kListener);
    if (base::send_descriptors(life_.get(), note, passed)) return base::success();
    return base::Error{.what = "the process that looks after the session was killed; nothing was run",
                       .advice = "try again"};
}

void Keeper::dismiss(bool has_jobs) {
    if (is_dismissed_) return;
    is_dismissed_ = true;
    const char word = has_jobs ? kDoneWithJobs : kDone;
    // If there is no keeper, or it was killed, do it here and now.
    if (!life_ || ::send(life_.get(), &word, 1, MSG_NOSIGNAL) != 1) tidy();
}

std::vector<BareName> Keeper::take_reports() {
    std::vector<BareName> urgent;
    char bytes[kLongestReport];
    ssize_t got = -1;
    while (life_ && (got = ::recv(life_.get(), bytes, sizeof bytes, MSG_DONTWAIT)) > 0) {
        const std::string_view report(bytes, static_cast<size_t>(got));
        is_complete_ = is_complete_ || report == kNoMoreReports;
        for (BareName& name : decode_bare_names(report)) {
            // A name that could not be covered once counts as open from then on.
            bool& is_covered = bare_.try_emplace(name.path, true).first->second;
            is_covered = is_covered && name.is_covered_again;
            if (!name.detail.empty()) urgent.push_back(std::move(name));
        }
    }
    bool is_open = got < 0 && (errno == EAGAIN || errno == EINTR);
    has_reports_ = has_reports_ && is_open;
    return urgent;
}

bool Keeper::await_reports(std::chrono::steady_clock::time_point latest) const {
    if (!life_ || !is_guarding_ || !has_reports_ || is_complete_) return false;
    auto left = std::chrono::ceil<std::chrono::milliseconds>(latest - std::chrono::steady_clock::now());
    return left.count() > 0 && becomes_readable(life_.get(), static_cast<int>(left.count()));
}

std::string_view Keeper::lost_reports() const {
    if (!is_guarding_ || is_complete_) return {};
    return has_reports_ ? "did not answer at the end" : "was killed";
}

std::vector<backends::Uncovered> Keeper::uncovered() const {
    std::vector<backends::Uncovered> uncovered;
    for (const auto& [path, is_covered] : bare_)
        uncovered.push_back({.path = path, .is_covered_again = is_covered});
    return uncovered;
}

void Keeper::tidy() const {
    empty_trash(state_directory_);
    remove_old_records(state_directory_ + "/sessions", keep_, ::time(nullptr));
    for (std::string_view helper : {"notify", "slurm/sockets"})
        remove_left_sockets(state_directory_ + "/" + std::string(helper));
    remove_left_drafts(state_directory_, ::time(nullptr));
    remove_stale_directories(std::string(base::kPlaceParent));
    // Listing the sessions removes the directories of those that were killed before they had a keeper.
    if (!runtime_place_.empty()) (void)known_sessions({runtime_place_});
    if (looks_for_builders_) end_left_builders();
}

// Slurm kills all processes of a step, also the keeper of the session in it. If such a session dies while
// this one ends, it still held the placeholders when this one released them, and no process is left to remove
// them.
void Keeper::outlast_jobs(Placeholders& placeholders) const {
    // A process that waits until the terminal is closed must not wait for this.
    base::close_others({placeholders.descriptor(), placeholders.project_descriptor()});
    base::fill_standard_descriptors();
    for (auto pause = kFirstPause; pause <= kLongestPause && !placeholders.release_rest(); pause *= 2)
        std::this_thread::sleep_for(pause);
    empty_trash(state_directory_);
}

}  // namespace session
