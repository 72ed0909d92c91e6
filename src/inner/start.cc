// SPDX-License-Identifier: MIT
// Theory of operation. The child goes through the walls in an order that each allows the next: limits,
// Landlock, the filter of system calls, and last the doorman's filter, from which on the kernel asks the
// stage about some calls. The stage gets the doorman's listener by duplicating the child's descriptor,
// because the calls that pass descriptors on may be among those that are asked about, and nobody answers yet:
//
//   child                                   stage
//   installs, writes the number      →      pidfd_getfd
//   closes its own, executes         ←      a byte
//
// A jail that is traced has no doorman: a process tree has one listener. Its filter (seccomp/trace.h) takes
// the place of the usual one, and the child sends the listener to the supervisor itself, by calls that are
// never among those it notifies. Its first execution then waits for whoever answers out there, so that
// nothing of the user's runs before the tracer does. The stage can't be behind the usual filter when it forks
// such a child, which would inherit it; it enters it then, and gives the child a byte as its leave to go on.
//
// A successful execution closes the pipe for failures, and nothing was written to it.
#include "inner/start.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "doorman/doorman.h"
#include "inner/execute.h"
#include "inner/limits.h"
#include "inner/report.h"
#include "inner/signals.h"
#include "seccomp/install.h"

namespace inner {
namespace {

struct Channel {
    base::Fd stage, child;
};

int open_channel(int type, Channel& channel) {
    int ends[2];
    if (::socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, ends) != 0) return errno;
    channel.stage = base::Fd(ends[0]);
    channel.child = base::Fd(ends[1]);
    return 0;
}

void restore_open_files_limit(uint64_t soft) {
    struct rlimit limit;
    if (soft == 0 || ::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    limit.rlim_cur = soft;
    ::setrlimit(RLIMIT_NOFILE, &limit);
}

// ---- In the child

// Threat: a listener that reaches the command lets it answer its own questions (tests/jail/landlock.bats: the
// command has no descriptor of the sandbox's).
int hand_listener_over(int listener, int channel) {
    char word = 0;
    ssize_t sent = ::write(channel, &listener, sizeof listener);
    ssize_t got = sent == sizeof listener ? ::read(channel, &word, 1) : -1;
    ::close(listener);
    return got == 1 ? 0 : EPIPE;
}

int let_doorman_in(const Orders& orders, int channel) {
    if (!orders.doorman.is_answered) return doorman::install_refusals(orders.doorman);
    int listener = doorman::install(orders.doorman);
    return listener < 0 ? -listener : hand_listener_over(listener, channel);
}

// Threat: as above; whoever holds the listener inside would answer for the tracer (tests/jail/trace.bats: the
// command has no descriptor of the sandbox's).
int let_tracer_in(const Orders& orders, int channel) {
    char word = 0;
    if (::read(channel, &word, 1) != 1) return EPIPE;
    int listener = seccomp::install_traced(orders.system_calls, orders.trace);
    if (listener < 0) return -listener;
    int number = send_report_with(orders, Report{.kind = Report::Kind::traced}, listener);
    ::close(listener);
    return number;
}

ExecuteFailure go_through_walls(const Orders& orders, const landlock::Built& wall, int channel) {
    if (int number = apply_limits(orders.limits); number != 0) return {number, kStepLimits};
    if (int number = landlock::enter(wall); number != 0) return {number, kStepWall};
    // The stage, which nobody may look into, is what this process still is; its parent, or the tracer, has
    // to.
    if (orders.doorman.is_wanted || orders.trace.is_wanted()) ::prctl(PR_SET_DUMPABLE, 1);
    if (orders.trace.is_wanted()) {
        int number = orders.doorman.is_wanted ? EBUSY : let_tracer_in(orders, channel);
        return {number, number == 0 ? std::string_view() : kStepTracer};
    }
    if (is_filtered_alone(orders)) {
        if (int number = seccomp::install(orders.system_calls); number != 0) return {number, kStepFilter};
    }
    if (orders.doorman.is_wanted) {
        if (int number = let_doorman_in(orders, channel); number != 0) return {number, kStepDoorman};
    }
    return {};
}

// Every signal is still blocked, so that SIGTTOU can't stop it when it takes the terminal.
[[noreturn]] void become_command(const Orders& orders, const landlock::Built& wall, int failures,
                                 int channel) {
    ::setpgid(0, 0);
    if (orders.takes_terminal) ::tcsetpgrp(orders.terminal, ::getpid());
    restore_open_files_limit(orders.open_files);
    apply_signals(orders.signals, kStageSignals);
    ExecuteFailure failure = go_through_walls(orders, wall, channel);
    if (failure.number == 0) failure = execute(orders);
    Report report{.kind = Report::Kind::failed,
                  .number = failure.number,
                  .step = std::string(failure.step),
                  .object = orders.command.front()};
    (void)base::write_all(failures, encode(report));
    ::_exit(static_cast<int>(base::ExitCode::jail_failed));
}

// ---- In the stage

// Nothing where the child failed before, which it tells itself.
base::Fd take_listener(pid_t child, int channel) {
    int number = -1;
    if (::read(channel, &number, sizeof number) != sizeof number) return {};
    base::Fd process(static_cast<int>(::syscall(SYS_pidfd_open, child, 0)));
    base::Fd listener(static_cast<int>(::syscall(SYS_pidfd_getfd, process.get(), number, 0)));
    if (!listener) return {};
    ::fcntl(listener.get(), F_SETFD, FD_CLOEXEC);
    char word = 1;
    (void)!::write(channel, &word, 1);
    return listener;
}

// Zero or an errno.
int follow_into_filter(const Orders& orders, int channel) {
    if (orders.has_namespaces) {
        if (int number = seccomp::install(orders.system_calls); number != 0) return number;
    }
    char word = 1;
    return ::write(channel, &word, 1) == 1 ? 0 : EPIPE;
}

}  // namespace

bool is_filtered_alone(const Orders& orders) {
    return !orders.has_namespaces || orders.doorman.is_wanted || orders.trace.is_wanted();
}

Started start(const Orders& orders, const landlock::Built& wall) {
    Started started;
    Channel failures, channel;
    int number = open_channel(SOCK_STREAM, failures);
    bool needs_channel = orders.doorman.is_wanted || orders.trace.is_wanted();
    if (number == 0 && needs_channel) number = open_channel(SOCK_SEQPACKET, channel);
    if (number != 0) {
        report_failure(orders, kStepStart, "socket", number);
        return started;
    }
    pid_t stage = ::getpid();
    pid_t command = ::fork();
    if (command < 0) {
        report_failure(orders, kStepStart, "fork", errno);
        return started;
    }
    if (command == 0) {
        // A stage that is killed takes the command along, and the warden what is left.
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (::getppid() != stage) ::_exit(0);
        failures.stage.reset();
        channel.stage.reset();
        become_command(orders, wall, failures.child.get(), channel.child.get());
    }
    failures.child.reset();
    channel.child.reset();
    // The child does the same: whoever comes first, nobody signals a group that is not there yet.
    ::setpgid(command, command);
    if (orders.trace.is_wanted()) {
        if (number = follow_into_filter(orders, channel.stage.get()); number != 0) {
            report_failure(orders, kStepFilter, "", number);
            return started;
        }
    }
    bool has_doorman = orders.doorman.is_wanted && orders.doorman.is_answered;
    if (has_doorman) started.listener = take_listener(command, channel.stage.get());
    channel.stage.reset();
    base::Result<std::string> failure = base::read_descriptor(failures.stage.get());
    Report report;
    if (failure && take_report(*failure, report)) {
        send_report(orders, report);
        return started;
    }
    send_report(orders, Report{.kind = Report::Kind::started});
    started.command = command;
    return started;
}

}  // namespace inner
