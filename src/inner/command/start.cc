// SPDX-License-Identifier: MIT
// Theory of operation. The child confines itself in an order in which each step still allows the next:
// limits, Landlock, the seccomp filter, and last the doorman's filter, after which the kernel asks the stage
// about some calls. The stage gets the doorman's listener by duplicating the child's descriptor. The child
// can't send it, because the calls that pass descriptors may be among those that wait for an answer, and no
// process answers yet:
//
//   child                                   stage
//   installs, writes the number      →      pidfd_getfd
//   closes its own, executes         ←      a byte
//
// If a process outside answers, the stage has installed the filter on itself and sent the listener with its
// first report (stage.cc). The stage makes none of those calls.
//
// A process tree can have only one listener. So the filter of a traced jail (seccomp/trace.h) replaces the
// usual one and also notifies the calls that a process outside answers. The child itself sends the listener
// to the supervisor, by calls that are never notified. Its first exec then waits for the tracer's answer, so
// that no code of the user runs before the tracer does. The stage can't be behind the usual filter when it
// forks such a child, because the child would inherit it. It enters the filter after the fork, and then sends
// the child a byte to continue.
//
// A successful exec closes the pipe for failures, with nothing written to it.
#include "inner/command/start.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <string>

#include "base/text.h"
#include "doorman/doorman.h"
#include "inner/command/process_state.h"
#include "inner/messages.h"
#include "seccomp/filter.h"

namespace inner {
namespace {

constexpr std::string_view kPathWithoutVariable = "/usr/bin:/bin";

std::vector<char*> pointers_to(const std::vector<std::string>& texts) {
    std::vector<char*> pointers;
    pointers.reserve(texts.size() + 1);
    for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
    pointers.push_back(nullptr);
    return pointers;
}

std::string_view search_path(const std::vector<std::string>& environment) {
    static constexpr std::string_view kName = "PATH=";
    auto found =
        std::ranges::find_if(environment, [](const std::string& entry) { return entry.starts_with(kName); });
    return found == environment.end() ? kPathWithoutVariable : std::string_view(*found).substr(kName.size());
}

// A text file without a #! line is a script for the shell: execvp does the same, and old scripts rely on it.
void execute_by_shell(const std::string& file, const std::vector<std::string>& command,
                      char* const* environment) {
    std::vector<std::string> words = {"/bin/sh", file};
    words.insert(words.end(), command.begin() + 1, command.end());
    ::execve("/bin/sh", pointers_to(words).data(), environment);
}

// Returns why this file could not be executed.
ExecuteFailure try_file(const std::string& file, const std::vector<std::string>& command,
                        char* const* environment) {
    ::execve(file.c_str(), pointers_to(command).data(), environment);
    if (errno == ENOEXEC) execute_by_shell(file, command, environment);
    int number = errno;
    // ENOENT for a file that exists is about the interpreter or the loader that it names.
    bool is_there = number == ENOENT && ::access(file.c_str(), F_OK) == 0;
    return {number, is_there ? kStepInterpreter : kStepExecute};
}

bool may_be_elsewhere(const ExecuteFailure& failure) {
    if (failure.step == kStepInterpreter) return false;
    constexpr int kReasons[] = {ENOENT, ENOTDIR, EACCES, ESTALE, ENODEV, ETIMEDOUT};
    return std::ranges::find(kReasons, failure.number) != std::end(kReasons);
}

}  // namespace

ExecuteFailure execute(const std::vector<std::string>& command, const std::vector<std::string>& environment) {
    std::vector<char*> variables = pointers_to(environment);
    const std::string& name = command.front();
    if (name.empty()) return {ENOENT, kStepExecute};
    if (name.find('/') != std::string::npos) return try_file(name, command, variables.data());
    ExecuteFailure failure{ENOENT, kStepExecute};
    for (std::string_view directory : base::split(search_path(environment), ':')) {
        // An empty entry is the working directory.
        std::string file = directory.empty() ? "./" + name : std::string(directory) + "/" + name;
        ExecuteFailure latest = try_file(file, command, variables.data());
        if (!may_be_elsewhere(latest)) return latest;
        // EACCES in one directory helps the user more than ENOENT in the directories after it.
        if (latest.number == EACCES) failure = latest;
    }
    return failure;
}

int open_channel(Channel& channel) {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return errno;
    channel.stage = base::Fd(ends[0]);
    channel.child = base::Fd(ends[1]);
    return 0;
}

// A pipe, because socketpair() of the stage may be notified by now.
int open_failures(Channel& failures) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return errno;
    failures.stage = base::Fd(ends[0]);
    failures.child = base::Fd(ends[1]);
    return 0;
}

void restore_open_files_limit(uint64_t soft) {
    struct rlimit limit;
    if (soft == 0 || ::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    limit.rlim_cur = soft;
    ::setrlimit(RLIMIT_NOFILE, &limit);
}

// ---- In the child

namespace {

// Threat: with the listener the command could answer its own notifications (tests/jail/landlock.bats: the
// command has no descriptor of the sandbox's).
int hand_listener_over(int listener, int channel) {
    char word = 0;
    ssize_t sent = ::write(channel, &listener, sizeof listener);
    ssize_t got = sent == sizeof listener ? ::read(channel, &word, 1) : -1;
    ::close(listener);
    return got == 1 ? 0 : EPIPE;
}

int let_doorman_in(const LaunchSpec& spec, int channel) {
    if (!spec.doorman.is_answered) return doorman::install_refusals(spec.doorman);
    int listener = doorman::install(spec.doorman);
    return listener < 0 ? -listener : hand_listener_over(listener, channel);
}

// Threat: as above; a process inside with the listener would answer instead of the tracer
// (tests/jail/trace.bats: the command has no descriptor of the sandbox's).
int let_tracer_in(const LaunchSpec& spec, int channel) {
    char word = 0;
    if (::read(channel, &word, 1) != 1) return EPIPE;
    std::vector<sock_filter> answered;
    if (spec.doorman.is_wanted) answered = doorman::program_for(spec.doorman);
    int listener = seccomp::install_traced(spec.system_calls, spec.trace, answered);
    if (listener < 0) return -listener;
    int number = send_report_with(spec, Report{.kind = Report::Kind::traced}, std::span(&listener, 1));
    ::close(listener);
    return number;
}

}  // namespace

ExecuteFailure go_through_walls(const LaunchSpec& spec, const landlock::Built& wall, int channel) {
    if (int number = apply_limits(spec.limits); number != 0) return {number, kStepLimits};
    if (int number = landlock::enter(wall); number != 0) return {number, kStepWall};
    // Still non-dumpable, inherited from the stage. The parent (or the tracer) must be able to read our
    // memory, so re-enable it.
    if (has_own_doorman(spec) || spec.trace.is_wanted()) ::prctl(PR_SET_DUMPABLE, 1);
    if (spec.trace.is_wanted()) {
        int number = has_own_doorman(spec) ? EBUSY : let_tracer_in(spec, channel);
        return {number, number == 0 ? std::string_view() : kStepTracer};
    }
    if (is_filtered_alone(spec)) {
        // The command runs only if the next step installs the filter with the listener.
        seccomp::Switches switches = spec.system_calls;
        switches.leaves_namespaces_to_listener =
            has_own_doorman(spec) && spec.doorman.is_answered && spec.doorman.refuses_namespaces;
        if (int number = seccomp::install(switches); number != 0) return {number, kStepFilter};
    }
    if (has_own_doorman(spec)) {
        if (int number = let_doorman_in(spec, channel); number != 0) return {number, kStepDoorman};
    }
    return {};
}

namespace {

// Every signal is still blocked, so SIGTTOU can't stop the child when it takes the terminal.
[[noreturn]] void become_command(const LaunchSpec& spec, const landlock::Built& wall, int failures,
                                 int channel) {
    ::setpgid(0, 0);
    if (spec.takes_terminal) ::tcsetpgrp(spec.terminal, ::getpid());
    restore_open_files_limit(spec.open_files);
    apply_signals(spec.signals, kStageSignals);
    ExecuteFailure failure = go_through_walls(spec, wall, channel);
    if (failure.number == 0) failure = execute(spec);
    Report report{.kind = Report::Kind::failed,
                  .number = failure.number,
                  .step = std::string(failure.step),
                  .object = spec.command.front()};
    (void)base::write_all(failures, encode(report));
    ::_exit(static_cast<int>(base::ExitCode::jail_failed));
}

}  // namespace

// ---- In the stage

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

namespace {

// Zero or an errno.
int follow_into_filter(const LaunchSpec& spec, int channel) {
    if (spec.has_namespaces) {
        if (int number = seccomp::install(spec.system_calls); number != 0) return number;
    }
    char word = 1;
    return ::write(channel, &word, 1) == 1 ? 0 : EPIPE;
}

}  // namespace

bool has_own_doorman(const LaunchSpec& spec) {
    return spec.doorman.is_wanted && !spec.doorman.is_outside;
}

bool is_filtered_alone(const LaunchSpec& spec) {
    return !spec.has_namespaces || has_own_doorman(spec) || spec.trace.is_wanted();
}

Started start(const LaunchSpec& spec, const landlock::Built& wall) {
    Started started;
    Channel failures, channel;
    int number = open_failures(failures);
    bool needs_channel = has_own_doorman(spec) || spec.trace.is_wanted();
    if (number == 0 && needs_channel) number = open_channel(channel);
    if (number != 0) {
        report_failure(spec, kStepStart, "socket", number);
        return started;
    }
    pid_t stage = ::getpid();
    pid_t command = ::fork();
    if (command < 0) {
        report_failure(spec, kStepStart, "fork", errno);
        return started;
    }
    if (command == 0) {
        // If the stage is killed, the kernel kills the command too, and the warden kills the rest.
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (::getppid() != stage) ::_exit(0);
        failures.stage.reset();
        channel.stage.reset();
        become_command(spec, wall, failures.child.get(), channel.child.get());
    }
    failures.child.reset();
    channel.child.reset();
    // The child does the same: whichever comes first, the group exists before it gets a signal.
    ::setpgid(command, command);
    if (spec.trace.is_wanted()) {
        if (number = follow_into_filter(spec, channel.stage.get()); number != 0) {
            report_failure(spec, kStepFilter, "", number);
            return started;
        }
    }
    if (has_own_doorman(spec) && spec.doorman.is_answered)
        started.listener = take_listener(command, channel.stage.get());
    channel.stage.reset();
    base::Result<std::string> failure = base::read_descriptor(failures.stage.get());
    Report report;
    if (failure && take_report(*failure, report)) {
        send_report(spec, report);
        return started;
    }
    send_report(spec, Report{.kind = Report::Kind::started});
    started.command = command;
    return started;
}

}  // namespace inner
