// SPDX-License-Identifier: MIT
#include "session/guard/keeper.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <set>
#include <span>
#include <thread>
#include <utility>

#include "base/inside/jail_files.h"
#include "base/no_links.h"
#include "base/path.h"
#include "base/process/descriptors.h"
#include "base/process/event_loop.h"
#include "doorman/doorman.h"
#include "layers/store.h"
#include "session/control/known_sessions.h"
#include "session/control/record.h"
#include "session/control/session_directory.h"
#include "session/guard/git_config_gate.h"
#include "session/guard/orphans.h"
#include "session/guard/trash.h"

namespace session {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr std::chrono::seconds kLongestJailEnd{10};
// Messages of the supervisor to its keeper: what to guard, or that it may finish. The first descriptor of
// kGuard is pid 1; behind kGuard, one letter for each further descriptor.
constexpr char kGuard = 'g';
constexpr char kMounts = 'm';
constexpr char kListener = 'l';
constexpr char kHome = 'h';
constexpr char kDone = 'd';
constexpr char kDoneWithJobs = 'j';
constexpr char kKilled = '\0';  // never sent: the supervisor was killed
// A message to the supervisor that starts with this letter contains the name of a program that was refused
// namespaces of its own.
constexpr char kRefusedProgram = 'n';
// Time between two checks for jobs that have ended; each is twice as long as the one before.
constexpr std::chrono::milliseconds kFirstPause{20};
constexpr std::chrono::milliseconds kLongestPause{2560};

// Reports each program once, up to a limit.
class RefusedPrograms {
  public:
    explicit RefusedPrograms(int supervisor) : supervisor_(supervisor) {}
    void operator()(const std::string& program) {
        if (told_.size() >= doorman::kMostRefusedPrograms || !told_.insert(program).second) return;
        const std::string message = kRefusedProgram + program;
        (void)!::send(supervisor_, message.data(), message.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    }

  private:
    int supervisor_;
    std::set<std::string> told_;
};

// Without mounts nothing can be covered again.
void take_charge(Cleanup& cleanup, base::PassedDescriptors& received, const doorman::Hooks& hooks,
                 std::optional<doorman::Doorman>& doorman) {
    bool has_mounts = false;
    for (size_t i = 1; i < std::min(received.note.size(), received.descriptors.size()); ++i) {
        base::Fd& passed = received.descriptors[i];
        if (received.note[i] == kListener) {
            doorman.emplace(cleanup.answers, std::move(passed), hooks);
        } else if (received.note[i] == kHome) {
            cleanup.home.inherit(std::move(passed));
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
char attend(Cleanup& cleanup, GitProgramSettings programs, int life, base::Fd& stage) {
    constexpr auto kNever = SteadyClock::time_point::max();
    std::optional<doorman::Doorman> doorman;
    CoverGuard guard(cleanup.covers, cleanup.placeholders, std::move(programs), life);
    GitConfigGate gate(cleanup.covers, guard, life);
    std::optional<char> last;
    bool is_jail_dead = false;
    SteadyClock::time_point look_due = kNever;
    auto until_look = [&] {
        const int patience = guard.patience();
        const auto due = SteadyClock::now() + std::chrono::milliseconds(patience);
        look_due = patience < 0 ? kNever : std::min(look_due, due);
        return patience;
    };
    auto look_if_due = [&] {
        if (look_due == kNever || SteadyClock::now() < look_due) return;
        guard.look();
        look_due = kNever;
    };

    base::EventLoop loop;
    // The jail is dead: report, cover no more names, and make no more placeholders. The supervisor waits for
    // the report.
    loop.add({[&] { return is_jail_dead ? -1 : stage.get(); },
              [&] {
                  is_jail_dead = true;
                  guard.finish();
                  cleanup.covers.say_over();
                  cleanup.search.end();
              }});
    // Events before the mount namespace is known stay in the queue.
    loop.add({[&] { return cleanup.covers.is_empty() ? -1 : cleanup.covers.events(); },
              [&] {
                  if (!is_jail_dead) guard.take_events();
              },
              until_look});
    // One call in each round: covering a file again has priority. Threat: a jail whose calls arrive all the
    // time would put off the look (tests/jail/covers.bats).
    loop.add({[&] { return doorman ? doorman->events() : -1; },
              [&] {
                  look_if_due();
                  doorman->answer();
              },
              [&] { return cleanup.covers.is_looking_for_head() ? 0 : cleanup.search.patience(); }});
    loop.add({[&] { return life; },
              [&] {
                  base::Result<base::PassedDescriptors> said = base::receive_descriptors(life);
                  if (!said || said->note.empty()) {
                      last = kKilled;
                  } else if (said->note[0] != kGuard) {
                      last = said->note[0];
                  } else {
                      stage = std::move(said->descriptors.front());
                      doorman::Hooks hooks = gate.hooks();
                      hooks.on_refused_namespaces = RefusedPrograms(life);
                      take_charge(cleanup, *said, hooks, doorman);
                  }
              }});
    // Threat: the jail breaks .git, and a prompt outside runs `git status` (tests/jail/bare.bats).
    auto move_head = [&] {
        std::optional<base::Path> head = cleanup.covers.take_head();
        if (!head || is_jail_dead) return;
        const NewNames::EarlyMove moved = cleanup.new_names.move_now(*head);
        if (moved == NewNames::EarlyMove::nothing) return;
        if (moved != NewNames::EarlyMove::moved) cleanup.covers.look_for_head_again();
        gate.note_moved(*head, moved == NewNames::EarlyMove::too_often);
    };
    while (!last) {
        look_if_due();
        move_head();
        cleanup.search.take_turn(cleanup.covers.covers());
        loop.turn();
    }
    return *last;
}

// Neither the caller's terminal nor a kill of its process group must reach this process, and it closes all of
// the caller's descriptors. The terminal can be restored only from within its session.
void leave_supervisor(const Cleanup& cleanup, int life) {
    ::prctl(PR_SET_NAME, "asb-keeper");
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
                        cleanup.new_names.lock_descriptor(), cleanup.new_names.project_descriptor(),
                        cleanup.terminal.descriptor(), cleanup.private_directory.descriptor(),
                        cleanup.covers.events(), cleanup.search.watch(), life,
                        cleanup.answers.socket_factory});
    base::fill_standard_descriptors();
}

}  // namespace

base::Status Keeper::start(Cleanup cleanup) {
    if (base::Result<base::Path> own = base::Path::parse(cleanup.directory.path()); own)
        runtime_place_ = own->parent().parent().str();
    if (cleanup.is_empty() && layer_.empty()) return base::success();
    int ends[2];
    // Not a pipe: a write to a pipe whose reader was killed raises SIGPIPE.
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return base::system_error("make a socket", errno);
    base::Fd life(ends[0]);
    life_ = base::Fd(ends[1]);
    // Not in the keeper: on a busy machine the command may run before it does.
    GitProgramSettings programs;
    programs.read(cleanup.covers.covers());
    process_ = ::fork();
    if (process_ < 0) {
        life_.reset();
        return base::system_error("start the process that looks after the session", errno);
    }
    if (process_ != 0) {
        cleanup.search.close_watch();
        return base::success();
    }
    leave_supervisor(cleanup, life.get());
    base::Fd stage;
    // If the jail does not die, or was not built yet, its mount points stay; the next launch removes them.
    char said = attend(cleanup, std::move(programs), life.get(), stage);
    cleanup.search.end();
    if (said == kKilled && stage && base::await_events(stage.get(), POLLIN, kLongestJailEnd) != 0) {
        cleanup.terminal.recover_for_the_dead();
        cleanup.placeholders.release();
        (void)cleanup.new_names.move_away(cleanup.covers.covers());
        if (cleanup.cgroup) cleanup.cgroup->remove();
        cleanup.private_directory.remove();
        if (!cleanup.directory.is_empty()) base::remove_tree(cleanup.directory.path());
        (void)cleanup.home.save();
    }
    // Last, because it takes time: the process that killed the supervisor may kill this one next.
    cleanup.covers.close();
    tidy();
    if (said == kDoneWithJobs) outlast_jobs(cleanup.placeholders);
    ::_exit(0);
}

base::Status Keeper::guard(int stage, const Guarded& guarded) {
    if (!life_ || stage == -ENOSYS) return base::success();
    if (stage < 0) return base::system_error("watch over the jail", -stage);
    is_guarding_ = static_cast<bool>(guarded.mounts);
    std::string note(1, kGuard);
    std::vector<int> passed = {stage};
    auto add = [&](int descriptor, char letter) {
        if (descriptor < 0) return;
        passed.push_back(descriptor);
        note += letter;
    };
    add(guarded.mounts.get(), kMounts);
    add(guarded.listener.get(), kListener);
    add(guarded.home.descriptor(), kHome);
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
        if (std::optional<GitVerdict> verdict = decode_git_verdict(report)) {
            verdicts_.push_back(*std::move(verdict));
            continue;
        }
        if (report.starts_with(kRefusedProgram)) {
            refused_programs_.emplace_back(report.substr(1));
            continue;
        }
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
    return base::await_events(life_.get(), POLLIN, latest) != 0;
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
    if (!layer_.empty()) layers::mark_synced(layer_);
    empty_trash(state_directory_);
    remove_old_records(state_directory_ + "/sessions", keep_, ::time(nullptr));
    for (std::string_view helper : {"notify", "slurm/sockets", "ssh-agent"})
        remove_left_sockets(state_directory_ + "/" + std::string(helper));
    AsideStore(state_directory_).remove_old(::time(nullptr));
    remove_left_drafts(state_directory_, ::time(nullptr));
    remove_old_discarded(state_directory_, ::time(nullptr));
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
