// SPDX-License-Identifier: MIT
// Theory of operation. The stage prepares, forks the command, and from then on waits for two things: children
// (a signalfd with SIGCHLD, the only signal that it takes) and requests of the supervisor (the control
// socket).
//
// The command has a process group of its own. In the supervisor's group it could signal, with kill(0, …), the
// supervisor and every process of the caller's job; a group is the one thing that a pid namespace does not
// close. So the stage does for the command what a job-control shell does: it makes the group, gives it the
// terminal, and says when it stops.
#include "inner/stage.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "base/descriptors.h"
#include "base/file.h"
#include "inner/checks.h"
#include "inner/confine.h"
#include "inner/execute.h"
#include "inner/limits.h"
#include "inner/messages.h"
#include "inner/orders.h"
#include "landlock/wall.h"
#include "seccomp/install.h"

namespace inner {
namespace {

constexpr int kFailed = static_cast<int>(base::ExitCode::jail_failed);

void send(int control, const Report& report) {
    std::string frame = encode(report);
    // MSG_NOSIGNAL: a supervisor that is gone is seen by the next read.
    (void)!::send(control, frame.data(), frame.size(), MSG_NOSIGNAL);
}

int fail(const Orders& orders, std::string_view step, std::string_view object, int number) {
    send(orders.control, Report{.kind = Report::Kind::failed,
                                .number = number,
                                .step = std::string(step),
                                .object = std::string(object)});
    return kFailed;
}

// Descriptors: 0, 1, 2 and those that are kept are the command's, the control socket and the terminal are
// ours, the rest is closed.
void settle_descriptors(const Orders& orders) {
    if (orders.standard_error != STDERR_FILENO) ::dup2(orders.standard_error, STDERR_FILENO);
    ::fcntl(orders.control, F_SETFD, FD_CLOEXEC);
    if (orders.terminal >= 0) ::fcntl(orders.terminal, F_SETFD, FD_CLOEXEC);
    std::vector<int> kept = orders.kept_descriptors;
    kept.insert(kept.end(), {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO, orders.control, orders.terminal});
    base::close_others(std::move(kept));
}

// What must hold and be done before a process of the user's may run. Zero, or what run_stage returns.
int prepare(const Orders& orders) {
    for (const Check& check : orders.checks) {
        if (int number = failure_of(check); number != 0)
            return fail(orders, kStepCheck, check.target, number);
    }
    // Without effect on a sealed mount, and then nobody misses the mode.
    for (const std::string& directory : orders.world_writable) (void)!::chmod(directory.c_str(), 01777);
    if (::chdir(orders.working_directory.c_str()) != 0) {
        return fail(orders, kStepDirectory, orders.working_directory, errno);
    }
    if (int number = leave_keyring(orders); number != 0) return fail(orders, kStepKeyring, "", number);
    forbid_core_dumps();
    return 0;
}

// The last thing before the command is started, and the filter the last of all: it refuses openat2, by which
// the places of the wall were opened, and keyctl. The stage stays outside the wall, in which nothing can then
// signal it, and inside the filter.
int confine(const Orders& orders, landlock::Built& wall) {
    wall = landlock::build(orders.wall, landlock::kernel_abi(), {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO});
    if (wall.failure != 0) return fail(orders, kStepWall, wall.failed_at, wall.failure);
    ::prctl(PR_SET_DUMPABLE, 0);
    if (int number = seccomp::install(orders.system_calls); number != 0)
        return fail(orders, kStepFilter, "", number);
    return 0;
}

void restore_open_files_limit(uint64_t soft) {
    struct rlimit limit;
    if (soft == 0 || ::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    limit.rlim_cur = soft;
    ::setrlimit(RLIMIT_NOFILE, &limit);
}

// In the child; every signal is still blocked, so that SIGTTOU can't stop it when it takes the terminal.
[[noreturn]] void become_command(const Orders& orders, const landlock::Built& wall, int failures) {
    ::setpgid(0, 0);
    if (orders.takes_terminal) ::tcsetpgrp(orders.terminal, ::getpid());
    restore_open_files_limit(orders.open_files);
    apply_signals(orders.signals);
    ExecuteFailure failure{apply_limits(orders.limits), kStepLimits};
    if (failure.number == 0) failure = {landlock::enter(wall), kStepWall};
    if (failure.number == 0) failure = execute(orders);
    Report report{.kind = Report::Kind::failed,
                  .number = failure.number,
                  .step = std::string(failure.step),
                  .object = orders.command.front()};
    (void)base::write_all(failures, encode(report));
    ::_exit(kFailed);
}

void skip_processes(unsigned count) {
    for (unsigned i = 0; i < count; ++i) {
        pid_t skipped = ::fork();
        if (skipped == 0) ::_exit(0);
        if (skipped > 0) ::waitpid(skipped, nullptr, 0);
    }
}

// Starts the command and reports; its pid, or -1. A successful exec closes the pipe and nothing was written
// to it.
pid_t start(const Orders& orders, const landlock::Built& wall) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) {
        fail(orders, kStepStart, "pipe", errno);
        return -1;
    }
    base::Fd failures(ends[0]), child_end(ends[1]);
    send(orders.control, Report{.kind = Report::Kind::starting, .number = wall.abi});
    pid_t command = ::fork();
    if (command < 0) {
        fail(orders, kStepStart, "fork", errno);
        return -1;
    }
    if (command == 0) become_command(orders, wall, child_end.get());
    child_end.reset();
    // The child does the same: whoever comes first, nobody signals a group that is not there yet.
    ::setpgid(command, command);
    base::Result<std::string> failure = base::read_descriptor(failures.get());
    Report report;
    if (failure && take_report(*failure, report)) {
        send(orders.control, report);
        return -1;
    }
    send(orders.control, Report{.kind = Report::Kind::started});
    return command;
}

// All that has happened to children; true when the command has ended.
bool reap(const Orders& orders, pid_t command) {
    int status = 0;
    for (pid_t pid; (pid = ::waitpid(-1, &status, WNOHANG | WUNTRACED)) > 0;) {
        if (pid != command) continue;
        if (WIFSTOPPED(status)) {
            send(orders.control, Report{.kind = Report::Kind::stopped, .number = WSTOPSIG(status)});
            continue;
        }
        bool by_signal = WIFSIGNALED(status);
        send(orders.control, Report{.kind = Report::Kind::ended,
                                    .number = by_signal ? WTERMSIG(status) : WEXITSTATUS(status),
                                    .by_signal = by_signal});
        return true;
    }
    return false;
}

void obey(const Orders& orders, pid_t command, const Request& request) {
    if (request.takes_terminal && orders.terminal >= 0) ::tcsetpgrp(orders.terminal, command);
    ::kill(request.to_group ? -command : command, request.signal);
}

// True while the supervisor is there.
bool take_requests(const Orders& orders, pid_t command, std::string& received) {
    char bytes[64];
    ssize_t got = ::read(orders.control, bytes, sizeof bytes);
    if (got < 0 && errno == EINTR) return true;
    if (got <= 0) return false;
    received.append(bytes, static_cast<size_t>(got));
    for (Request request; take_request(received, request);) obey(orders, command, request);
    return true;
}

// Helpers beside the jail are not ready yet, the network's gateway for one. Signals that arrive before the
// word are for the command, and kept for it. False: the supervisor is gone.
bool await_word(const Orders& orders, std::vector<Request>& early) {
    if (!orders.awaits_word) return true;
    std::string received;
    for (;;) {
        for (Request request; take_request(received, request);) {
            if (request.signal == 0) return true;
            early.push_back(request);
        }
        char frame[kRequestSize];
        ssize_t got = ::read(orders.control, frame, sizeof frame - received.size());
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        received.append(frame, static_cast<size_t>(got));
    }
}

// Until the command ends or the supervisor is gone. When pid 1 returns, the kernel ends all that is left in
// the jail.
void attend(const Orders& orders, pid_t command, int children) {
    std::string received;
    struct pollfd watched[] = {{children, POLLIN, 0}, {orders.control, POLLIN, 0}};
    for (;;) {
        if (::poll(watched, 2, -1) < 0 && errno != EINTR) return;
        if (watched[0].revents) {
            struct signalfd_siginfo information;
            (void)!::read(children, &information, sizeof information);
            if (reap(orders, command)) return;
        }
        if (watched[1].revents && !take_requests(orders, command, received)) return;
    }
}

}  // namespace

int run_stage(int argc, char** argv) {
    // An ignored SIGCHLD would reap behind our back, so the dispositions are set as well.
    apply_signals(SignalState{.blocked = ~uint64_t{0}});
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (argc != 3) return kFailed;
    base::Result<std::string> text = base::read_descriptor(std::atoi(argv[2]), 64u << 20);
    if (!text) return kFailed;
    base::Result<Orders> orders = decode(*text);
    if (!orders) {
        (void)base::write_all(STDERR_FILENO, orders.error().what);
        return kFailed;
    }
    settle_descriptors(*orders);
    if (int failed = prepare(*orders); failed != 0) return failed;
    landlock::Built wall;
    if (int failed = confine(*orders, wall); failed != 0) return failed;

    sigset_t taken;
    sigemptyset(&taken);
    sigaddset(&taken, SIGCHLD);
    base::Fd children(::signalfd(-1, &taken, SFD_CLOEXEC));
    std::vector<Request> early;
    if (!await_word(*orders, early)) return kFailed;
    skip_processes(orders->skipped_processes);
    pid_t command = start(*orders, wall);
    wall.ruleset.reset();
    if (command < 0) return kFailed;
    for (const Request& request : early) obey(*orders, command, request);
    // The ends of the command's pipes are the command's alone: a reader must see when it closes them.
    for (int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::close(fd);
    for (int fd : orders->kept_descriptors) ::close(fd);
    attend(*orders, command, children.get());
    return 0;
}

}  // namespace inner
