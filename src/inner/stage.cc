// SPDX-License-Identifier: MIT
// Theory of operation. The stage prepares, forks the command, and from then on waits for three things:
// children (a signalfd with SIGCHLD, the only signal that it takes), requests of the supervisor (the control
// socket) and, if there is a doorman, calls to answer.
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
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <optional>
#include <set>

#include "base/file.h"
#include "base/process/descriptors.h"
#include "base/process/own_arguments.h"
#include "base/process/release_memory.h"
#include "doorman/doorman.h"
#include "inner/checks.h"
#include "inner/command/start.h"
#include "inner/confine.h"
#include "inner/descendants.h"
#include "inner/launch_spec.h"
#include "inner/messages.h"
#include "inner/privileges.h"
#include "inner/report.h"
#include "inner/write_files.h"
#include "landlock/wall.h"
#include "seccomp/install.h"

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
    if (int number = seccomp::install(spec.system_calls); number != 0)
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
    explicit RefusedNames(const LaunchSpec& spec) : spec_(&spec) {}
    void operator()(const std::string& name) {
        constexpr size_t kMost = 200;
        if (told_.size() >= kMost || !told_.insert(name).second) return;
        send_report(*spec_, Report{.kind = Report::Kind::refused, .object = name});
    }

  private:
    const LaunchSpec* spec_;
    std::set<std::string> told_;
};

// Handles everything that happened to children; true if the command has ended.
bool reap(const LaunchSpec& spec, pid_t command) {
    int status = 0;
    for (pid_t pid; (pid = ::waitpid(-1, &status, WNOHANG | WUNTRACED)) > 0;) {
        if (pid != command) continue;
        if (WIFSTOPPED(status)) {
            send_report(spec, Report{.kind = Report::Kind::stopped, .number = WSTOPSIG(status)});
            continue;
        }
        bool by_signal = WIFSIGNALED(status);
        send_report(spec, Report{.kind = Report::Kind::ended,
                                 .number = by_signal ? WTERMSIG(status) : WEXITSTATUS(status),
                                 .by_signal = by_signal});
        return true;
    }
    return false;
}

void obey(const LaunchSpec& spec, pid_t command, const SignalRequest& request) {
    if (request.takes_terminal && spec.terminal >= 0) ::tcsetpgrp(spec.terminal, command);
    ::kill(request.to_group ? -command : command, request.signal);
}

// True while the supervisor lives.
bool take_requests(const LaunchSpec& spec, pid_t command, std::string& received) {
    char bytes[64];
    ssize_t got = ::read(spec.control, bytes, sizeof bytes);
    if (got < 0 && errno == EINTR) return true;
    if (got <= 0) return false;
    received.append(bytes, static_cast<size_t>(got));
    for (SignalRequest request; take_signal_request(received, request);) obey(spec, command, request);
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

// Returns when the command ends or the supervisor exits. When pid 1 exits, the kernel kills everything that
// is left in the jail.
void attend(const LaunchSpec& spec, pid_t command, int children, std::optional<doorman::Doorman>& doorman) {
    std::string received;
    struct pollfd watched[] = {
        {children, POLLIN, 0}, {spec.control, POLLIN, 0}, {doorman ? doorman->events() : -1, POLLIN, 0}};
    bool has_rested = false;
    for (;;) {
        int ready = base::poll_and_rest(watched, std::size(watched), -1, has_rested);
        if (ready < 0 && errno != EINTR) return;
        if (watched[0].revents) {
            struct signalfd_siginfo information;
            (void)!::read(children, &information, sizeof information);
            if (reap(spec, command)) return;
        }
        if (watched[1].revents && !take_requests(spec, command, received)) return;
        if (watched[2].revents & POLLIN) {
            doorman->answer();
        } else if (watched[2].revents) {
            watched[2].fd = -1;  // no process that could ask is left
        }
    }
}

// It may have died before PDEATHSIG was set. By now only the supervisor has the other end open.
bool has_supervisor(const LaunchSpec& spec) {
    struct pollfd supervisor = {spec.control, POLLRDHUP, 0};
    return ::poll(&supervisor, 1, 0) <= 0 || (supervisor.revents & (POLLHUP | POLLRDHUP)) == 0;
}

int play(const LaunchSpec& spec) {
    settle_descriptors(spec);
    if (!has_supervisor(spec)) return kFailed;
    if (int failed = prepare(spec); failed != 0) return failed;
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
    Started started = start(spec, wall);
    bool binds_for_others =
        started.listener && spec.doorman.abstract_names == doorman::AbstractNames::refused;
    if (!binds_for_others) wall.ruleset.reset();
    if (started.command < 0) return kFailed;
    for (const SignalRequest& request : early) obey(spec, started.command, request);
    // Only the command may keep its pipes open: a reader must see when the command closes them.
    for (int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::close(fd);
    for (int fd : spec.kept_descriptors) ::close(fd);
    std::optional<doorman::Doorman> doorman;
    if (started.listener)
        doorman.emplace(spec.doorman, std::move(started.listener),
                        doorman::Hooks{.enter_wall = [&wall] { return landlock::enter(wall); },
                                       .on_refused_name = RefusedNames(spec)});
    attend(spec, started.command, children.get(), doorman);
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
