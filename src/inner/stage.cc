// SPDX-License-Identifier: MIT
// Theory of operation. The stage prepares, forks the command, and from then on waits for three things:
// children (a signalfd with SIGCHLD, the only signal that it takes), requests of the supervisor (the control
// socket: a signal, or one more command to start) and, if there is a doorman, calls to answer.
//
// The command has its own process group. In the supervisor's group it could signal, with kill(0, …), the
// supervisor and every process of the caller's job, because a pid namespace does not separate process groups.
// So the stage does for the command what a job-control shell does: it makes the group, gives it the terminal,
// and reports when it stops.
//
// In a pid namespace the stage is pid 1, and the kernel ends the jail with it. Without one it must end the
// jail itself. A warden is its parent for the case that it is killed (descendants.h).
#include "inner/stage.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/inotify.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/process/descriptors.h"
#include "base/process/event_loop.h"
#include "base/process/own_process.h"
#include "doorman/doorman.h"
#include "inner/command/added_commands.h"
#include "inner/command/start.h"
#include "inner/descendants.h"
#include "inner/launch_spec.h"
#include "inner/messages.h"
#include "inner/preparation.h"
#include "landlock/wall.h"
#include "seccomp/filter.h"

namespace inner {
namespace {

constexpr int kFailed = static_cast<int>(base::ExitCode::jail_failed);

// Descriptors: 0, 1, 2 and the kept ones belong to the command. The control socket, the terminal and the
// doorman's socket to the gateway are ours. All others are closed.
void settle_descriptors(const LaunchSpec& spec) {
    if (spec.standard_error != STDERR_FILENO) ::dup2(spec.standard_error, STDERR_FILENO);
    ::fcntl(spec.control, F_SETFD, FD_CLOEXEC);
    for (int ours : {spec.terminal, spec.doorman.gateway}) {
        if (ours >= 0) ::fcntl(ours, F_SETFD, FD_CLOEXEC);
    }
    std::vector<int> kept = spec.kept_descriptors;
    kept.insert(kept.end(), {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO, spec.control, spec.mounts,
                             spec.terminal, spec.doorman.gateway});
    base::close_others(std::move(kept));
}

// The checks and preparations before any code of the user may run. Zero, or what run_stage returns.
int prepare(const LaunchSpec& spec) {
    if (!spec.has_namespaces) {
        if (int number = give_up_privileges(); number != 0)
            return report_failure(spec, kStepPrivileges, "", number);
        ::prctl(PR_SET_DUMPABLE, 0);
        if (int number = leave_warden(); number != 0) return report_failure(spec, kStepWarden, "", number);
    }
    // The doorman may inspect a process only if the stage is its ancestor: so orphans must become our
    // children.
    if (has_own_doorman(spec)) ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    for (const Check& check : spec.checks) {
        if (int number = failure_of(check); number != 0)
            return report_failure(spec, kStepCheck, check.target, number);
    }
    write_files(spec.files);
    // Has no effect on a sealed mount, where no program needs the mode.
    for (const std::string& directory : spec.world_writable) (void)!::chmod(directory.c_str(), 01777);
    if (::chdir(spec.working_directory.c_str()) != 0) {
        return report_failure(spec, kStepDirectory, spec.working_directory, errno);
    }
    if (int number = leave_keyring(spec); number != 0) return report_failure(spec, kStepKeyring, "", number);
    forbid_core_dumps();
    return 0;
}

bool is_apart(const LaunchSpec& spec) {
    return spec.doorman.is_wanted && spec.doorman.abstract_names == doorman::AbstractNames::apart;
}

// EBUSY: a filter around this jail has the listener. EINVAL: the kernel has no notifications (before 5.0).
// The supervisor then receives a report without a listener.
int let_outside_answer(const LaunchSpec& spec, base::Fd& listener) {
    int installed = doorman::install(spec.doorman);
    if (installed >= 0) listener = base::Fd(installed);
    bool is_without = installed == -EBUSY || installed == -EINVAL;
    return installed >= 0 || is_without ? 0 : report_failure(spec, kStepDoorman, "", -installed);
}

// The last steps before the command is started. The filter comes last, because it refuses openat2, which
// opens the places of the wall, and keyctl. The stage stays outside the wall, so that nothing inside it can
// signal the stage. It is inside the filter, unless only the command gets the filter.
int confine(const LaunchSpec& spec, landlock::Built& wall, base::Fd& listener) {
    bool is_traced = spec.trace.is_wanted();
    if (spec.doorman.is_wanted && spec.doorman.is_outside && !is_traced) {
        if (int failed = let_outside_answer(spec, listener); failed != 0) return failed;
    }
    landlock::Wall wanted = spec.wall;
    wanted.keeps_abstract_sockets = !(is_apart(spec) && (listener || is_traced));
    wall = landlock::build(wanted, landlock::kernel_abi(), {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO});
    if (wall.failure != 0) return report_failure(spec, kStepWall, wall.failed_at, wall.failure);
    ::prctl(PR_SET_DUMPABLE, 0);
    if (is_filtered_alone(spec)) return 0;
    // Threat: without a listener no process would refuse what this filter leaves to it
    // (tests/jail/system_calls.bats).
    seccomp::Switches switches = spec.system_calls;
    switches.leaves_namespaces_to_listener = listener && spec.doorman.refuses_namespaces;
    if (int number = seccomp::install(switches); number != 0)
        return report_failure(spec, kStepFilter, "", number);
    return 0;
}

void skip_processes(unsigned count) {
    for (unsigned i = 0; i < count; ++i) {
        pid_t skipped = ::fork();
        if (skipped == 0) ::_exit(0);
        if (skipped > 0) ::waitpid(skipped, nullptr, 0);
    }
}

// Reports each name once, up to a limit.
class RefusedNames {
  public:
    RefusedNames(const LaunchSpec& spec, Report::Kind kind, size_t most)
        : spec_(&spec), kind_(kind), most_(most) {}
    void operator()(const std::string& name) {
        if (told_.size() >= most_ || !told_.insert(name).second) return;
        send_report(*spec_, Report{.kind = kind_, .object = name});
    }

  private:
    const LaunchSpec* spec_;
    Report::Kind kind_;
    size_t most_;
    std::set<std::string> told_;
};

// Masked files that were opened inside. Each cover has an inode of its own, which no process outside can
// reach. The kernel stores the first opening of each until the command has ended.
class OpenedMasks {
  public:
    explicit OpenedMasks(const LaunchSpec& spec) : spec_(spec) {
        if (spec.masked.empty()) return;
        events_ = base::Fd(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
        for (const std::string& path : spec.masked) {
            int watch =
                ::inotify_add_watch(events_.get(), path.c_str(), IN_OPEN | IN_ONESHOT | IN_MASK_CREATE);
            if (watch >= 0) paths_.emplace(watch, path);
        }
    }
    void report() {
        alignas(struct inotify_event) char bytes[4096];
        ssize_t got = 0;
        while (events_ && (got = ::read(events_.get(), bytes, sizeof bytes)) > 0) {
            for (ssize_t at = 0; at < got;) {
                const auto* event = reinterpret_cast<const struct inotify_event*>(bytes + at);
                at += static_cast<ssize_t>(sizeof *event + event->len);
                auto path = paths_.find(event->wd);
                if ((event->mask & IN_OPEN) == 0 || path == paths_.end()) continue;
                send_report(spec_, Report{.kind = Report::Kind::opened, .object = path->second});
                paths_.erase(path);
            }
        }
    }

  private:
    const LaunchSpec& spec_;
    base::Fd events_;
    std::map<int, std::string> paths_;
};

// Handles everything that happened to children; true if the command has ended.
bool reap(const LaunchSpec& spec, pid_t command, OpenedMasks& masks, AddedCommands& added) {
    int status = 0;
    for (pid_t pid; (pid = ::waitpid(-1, &status, WNOHANG | WUNTRACED)) > 0;) {
        if (pid != command) {
            added.reap(pid, status);
            continue;
        }
        if (WIFSTOPPED(status)) {
            send_report(spec, Report{.kind = Report::Kind::stopped, .number = WSTOPSIG(status)});
            continue;
        }
        masks.report();
        bool by_signal = WIFSIGNALED(status);
        send_report(spec, Report{.kind = Report::Kind::ended,
                                 .number = by_signal ? WTERMSIG(status) : WEXITSTATUS(status),
                                 .by_signal = by_signal});
        return true;
    }
    return false;
}

// Slurm signals every process of a step, or the first process alone (scancel --batch). In the first case the
// command has the signal already, and the stage has it too: all signals are blocked here, so it is pending,
// or arrives while Slurm continues through its list. A signal from inside the jail does not count.
constexpr int kOthersAtMost = 8;
bool has_come_directly(const LaunchSpec& spec, int signal) {
    sigset_t one;
    sigemptyset(&one);
    if (sigaddset(&one, signal) != 0) return false;
    for (int others = 0; others < kOthersAtMost; ++others) {
        const struct timespec longest = {0, 200'000'000};
        siginfo_t information;
        if (::sigtimedwait(&one, &information, &longest) != signal) return false;
        // A sender in another pid namespace has no number; otherwise it is root's slurmstepd.
        if (spec.has_namespaces ? information.si_pid == 0 : information.si_uid == 0) return true;
    }
    return false;
}

// The command did not exist when these came, so it has none of them: the supervisor's copy must reach it.
void forget_pending_signals() {
    sigset_t others;
    sigfillset(&others);
    sigdelset(&others, SIGCHLD);
    const struct timespec now = {};
    for (int count = 0; count<NSIG&& ::sigtimedwait(&others, nullptr, &now)> 0; ++count) continue;
}

void obey(const LaunchSpec& spec, pid_t command, const SignalRequest& request) {
    bool is_plain = !request.to_group && request.signal != 0 && request.signal != SIGCONT;
    if (spec.is_job && is_plain && has_come_directly(spec, request.signal)) return;
    if (request.takes_terminal && spec.terminal >= 0) ::tcsetpgrp(spec.terminal, command);
    ::kill(request.to_group ? -command : command, request.signal);
}

// True while the supervisor lives. A call reads whole frames, and nothing after a frame with descriptors: so
// they belong to the last frame.
bool take_requests(const LaunchSpec& spec, pid_t command, AddedCommands& added) {
    char bytes[20 * kSignalRequestSize];
    struct iovec place = {bytes, sizeof bytes};
    alignas(struct cmsghdr) char extra[CMSG_SPACE(kAddedDescriptors * sizeof(int))];
    struct msghdr message = {};
    message.msg_iov = &place;
    message.msg_iovlen = 1;
    message.msg_control = extra;
    message.msg_controllen = sizeof extra;
    ssize_t got = ::recvmsg(spec.control, &message, MSG_CMSG_CLOEXEC);
    if (got < 0 && errno == EINTR) return true;
    if (got <= 0) return false;
    std::vector<base::Fd> descriptors = base::passed_descriptors(message);
    std::string received(bytes, static_cast<size_t>(got));
    for (SignalRequest request; take_signal_request(received, request);) {
        if (request.slot < 0) {
            obey(spec, command, request);
        } else {
            bool is_last = received.empty();
            added.obey(request, is_last ? std::exchange(descriptors, {}) : std::vector<base::Fd>());
        }
    }
    return true;
}

// Threat: a process that has the mount namespace open and has power over it can remove covers, and one that
// has the listener answers its own calls. The command gets neither descriptor (tests/jail/processes.bats:
// descriptors inside are 0, 1 and 2).
int tell_that_it_is_built(const LaunchSpec& spec, int landlock_abi, base::Fd listener) {
    Report report{.kind = Report::Kind::built, .number = landlock_abi};
    std::vector<int> descriptors;
    auto add = [&](int descriptor, char letter) {
        if (descriptor < 0) return;
        descriptors.push_back(descriptor);
        report.step += letter;
    };
    add(spec.mounts, kMountsCome);
    add(listener.get(), kListenerComes);
    // The supervisor reads the home directory when the jail is dead, and measures the jail in its /proc. A
    // jail without them is as safe, so a failure is not reported.
    const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    base::Fd home(spec.private_home.empty() ? -1 : ::open(spec.private_home.c_str(), flags));
    add(home.get(), kHomeComes);
    base::Fd proc(spec.has_namespaces ? ::open("/proc", flags) : -1);
    add(proc.get(), kProcComes);
    if (descriptors.empty()) {
        send_report(spec, report);
        return 0;
    }
    int number = send_report_with(spec, report, descriptors);
    if (spec.mounts >= 0) ::close(spec.mounts);
    return number == 0 ? 0 : report_failure(spec, kStepStart, "descriptors of the jail", number);
}

// Helpers beside the jail may not be ready yet: the keeper, the network's gateway. Signals that arrive before
// the ready message are for the command, and stored for it. False: the supervisor has exited.
bool await_word(const LaunchSpec& spec, std::vector<SignalRequest>& early) {
    std::string received;
    for (;;) {
        for (SignalRequest request; take_signal_request(received, request);) {
            if (request.signal == 0) return true;
            early.push_back(request);
        }
        char frame[kSignalRequestSize];
        ssize_t got = ::read(spec.control, frame, sizeof frame - received.size());
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        received.append(frame, static_cast<size_t>(got));
    }
}

// Answers the calls of the command, and of each added command, which has a listener of its own. A listener is
// closed when no process behind its filter is left.
class Doormen {
  public:
    using IsPassedTerminal = std::function<bool(int terminal)>;
    Doormen(const LaunchSpec& spec, const landlock::Built& wall, base::EventLoop& loop,
            IsPassedTerminal is_passed_terminal)
        : spec_(spec),
          wall_(wall),
          loop_(loop),
          is_passed_terminal_(std::move(is_passed_terminal)),
          on_refused_name_(spec, Report::Kind::refused, 200),
          on_refused_namespaces_(spec, Report::Kind::nested, doorman::kMostRefusedPrograms) {}

    static constexpr size_t kMost = 256;
    bool has_room() const { return count_ < kMost; }

    void add(base::Fd listener) {
        auto doorman = std::make_shared<doorman::Doorman>(
            spec_.doorman, std::move(listener),
            doorman::Hooks{.enter_wall = [this] { return landlock::enter(wall_); },
                           .on_refused_name = [this](const std::string& name) { on_refused_name_(name); },
                           .on_refused_namespaces =
                               [this](const std::string& program) { on_refused_namespaces_(program); },
                           .is_passed_terminal = is_passed_terminal_});
        auto source = std::make_shared<base::EventLoop::SourceId>(0);
        *source = loop_.add(base::Stream{[doorman] {
                                             return pollfd{doorman->events(), POLLIN, 0};
                                         },
                                         [this, doorman, source](short events) {
                                             if (events & POLLIN) doorman->answer();
                                             bool is_over = doorman->events() < 0 || !(events & POLLIN);
                                             if (is_over) remove(*source);
                                         }});
        ++count_;
    }

  private:
    void remove(base::EventLoop::SourceId source) {
        loop_.remove(source);
        --count_;
    }

    const LaunchSpec& spec_;
    const landlock::Built& wall_;
    base::EventLoop& loop_;
    IsPassedTerminal is_passed_terminal_;
    RefusedNames on_refused_name_;
    RefusedNames on_refused_namespaces_;
    size_t count_ = 0;
};

// Returns when the command ends or the supervisor exits. When pid 1 exits, the kernel kills everything that
// is left in the jail.
void attend(const LaunchSpec& spec, const landlock::Built& wall, Started started, int children,
            OpenedMasks& masks) {
    base::EventLoop loop;
    AddedCommands* all_added = nullptr;
    Doormen doormen(spec, wall, loop, [&](int terminal) { return all_added->is_passed_terminal(terminal); });
    AddedCommands added({.spec = spec,
                         .wall = wall,
                         .loop = loop,
                         .can_answer = [&] { return doormen.has_room(); },
                         .answer = [&](base::Fd listener) { doormen.add(std::move(listener)); }});
    all_added = &added;
    loop.add({[&] { return children; },
              [&] {
                  struct signalfd_siginfo information;
                  (void)!::read(children, &information, sizeof information);
                  if (reap(spec, started.command, masks, added)) loop.stop();
              }});
    loop.add({[&] { return spec.control; },
              [&] {
                  if (!take_requests(spec, started.command, added)) loop.stop();
              }});
    if (started.listener) doormen.add(std::move(started.listener));
    loop.run();
}

// It may have died before PDEATHSIG was set. By now only the supervisor has the other end open.
bool has_supervisor(const LaunchSpec& spec) {
    return (base::ready_events(spec.control, POLLRDHUP) & (POLLHUP | POLLRDHUP)) == 0;
}

int play(const LaunchSpec& spec) {
    settle_descriptors(spec);
    if (!has_supervisor(spec)) return kFailed;
    if (int failed = prepare(spec); failed != 0) return failed;
    OpenedMasks masks(spec);
    landlock::Built wall;
    base::Fd listener;
    if (int failed = confine(spec, wall, listener); failed != 0) return failed;

    sigset_t taken;
    sigemptyset(&taken);
    sigaddset(&taken, SIGCHLD);
    base::Fd children(::signalfd(-1, &taken, SFD_CLOEXEC));
    if (int failed = tell_that_it_is_built(spec, wall.abi, std::move(listener)); failed != 0) return failed;
    std::vector<SignalRequest> early;
    if (!await_word(spec, early)) return kFailed;
    skip_processes(spec.skipped_processes);
    // A signal for the process group of the job's first process must not reach the stage as well.
    if (spec.is_job) ::setpgid(0, 0);
    Started started = start(spec, wall);
    if (spec.is_job) forget_pending_signals();
    if (started.command < 0) return kFailed;
    for (const SignalRequest& request : early) obey(spec, started.command, request);
    // Only the command may keep its pipes open: a reader must see when the command closes them.
    for (int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::close(fd);
    for (int fd : spec.kept_descriptors) ::close(fd);
    // The ruleset stays open for added commands.
    attend(spec, wall, std::move(started), children.get(), masks);
    if (!spec.has_namespaces) end_descendants();
    if (spec.ends_others) ::kill(-1, SIGKILL);
    return 0;
}

}  // namespace

int run_copied_stage(const LaunchSpec& spec) {
    // The supervisor has no handlers, and still ignores what the caller ignores.
    apply_signals(kStageSignals, {.ignored = spec.signals.ignored});
    // Threat: the caller's command line and variables could be read in /proc/1
    // (tests/jail/differential.bats).
    using namespace std::string_view_literals;
    base::replace_arguments("agent-sandbox\0inner-stage"sv);
    base::forget_environment();
    return play(spec);
}

int run_stage(int argc, char** argv) {
    apply_signals(kStageSignals);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (argc != 3) return kFailed;
    base::Result<std::string> text = base::read_descriptor(std::atoi(argv[2]), 64u << 20);
    if (!text) return kFailed;
    base::Result<LaunchSpec> spec = decode(*text);
    if (!spec) {
        (void)base::write_all(STDERR_FILENO, spec.error().what);
        return kFailed;
    }
    return play(*spec);
}

}  // namespace inner
