// SPDX-License-Identifier: MIT
// Theory of operation. A slot is a number that the supervisor chose. It is free again when the supervisor
// has received `failed` or `ended` for it, which the stage sends after it has reaped the process:
//
//   starts a child        a pipe shows how the exec went: closed empty → report `started`
//   the child ends        something was in the pipe → report `failed`, else `ended`
//
// The stage does not wait for the exec, because that can take long on a network file system.
//
// Threat: if the stage answers calls itself, the child must become dumpable before its filters are complete
// (start.cc). A process of the jail that traced it then would start a command without the last filter. The
// child is in a Landlock domain of its own by then, and the kernel lets no process of another domain trace
// it. Without Landlock such a request is refused (tests/jail/exec.bats).
#include "inner/command/added_commands.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>
#include <utility>

#include "base/process/descriptors.h"
#include "base/text.h"
#include "inner/command/process_state.h"
#include "inner/command/start.h"

namespace inner {
namespace {

constexpr int kFirstOwn = STDERR_FILENO + 1;
constexpr size_t kMostTerminals = 256;

// The stage has 0, 1 and 2 closed, so new descriptors get these numbers. In the child they are the command's.
base::Fd above_standard(base::Fd descriptor) {
    if (!descriptor || descriptor.get() >= kFirstOwn) return descriptor;
    return base::Fd(::fcntl(descriptor.get(), F_DUPFD_CLOEXEC, kFirstOwn));
}

int open_above_standard(int (*open)(Channel&), Channel& channel) {
    if (int number = open(channel); number != 0) return number;
    channel.stage = above_standard(std::move(channel.stage));
    channel.child = above_standard(std::move(channel.child));
    return channel.stage && channel.child ? 0 : EMFILE;
}

std::string_view name_of(std::string_view variable) {
    return variable.substr(0, variable.find('='));
}

std::vector<std::string> merged(std::vector<std::string> environment, const std::vector<std::string>& added) {
    for (const std::string& variable : added) {
        std::erase_if(environment,
                      [&](const std::string& known) { return name_of(known) == name_of(variable); });
        environment.push_back(variable);
    }
    return environment;
}

// ---- In the child

void take_standard_descriptors(const std::vector<base::Fd>& standard) {
    for (size_t number = 0; number < standard.size(); ++number)
        ::dup2(standard[number].get(), static_cast<int>(number));
}

// A terminal or /dev/null, for programs that open /dev/stderr. The supervisor has checked them.
ExecuteFailure permit_reopening(const landlock::Built& wall) {
    if (wall.abi == 0) return {};
    for (int number : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
        if (int failed = landlock::add_reopened(wall, number); failed != 0) return {failed, kStepWall};
    }
    return {};
}

ExecuteFailure enter_directory(const std::string& directory, std::vector<std::string>& environment) {
    if (directory.empty()) return {};
    if (::chdir(directory.c_str()) != 0) return {errno, kStepDirectory};
    char place[PATH_MAX];
    if (::getcwd(place, sizeof place) != nullptr)
        environment = merged(std::move(environment), {std::string("PWD=") + place});
    return {};
}

struct Child {
    const LaunchSpec& spec;
    const landlock::Built& wall;
    const AddedRequest& request;
    int failures;
    int channel;
};

// In a session of its own: a command whose input is a terminal of the caller must not be stopped as a
// background process of that terminal, and one with a terminal of its own needs it for job control.
[[noreturn]] void become_added(const Child& child, const std::vector<base::Fd>& standard) {
    ::setsid();
    take_standard_descriptors(standard);
    base::close_others({STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO, child.failures, child.channel,
                        child.wall.ruleset.get()});
    if (child.request.has_terminal) ::ioctl(STDIN_FILENO, TIOCSCTTY, 0);
    restore_open_files_limit(child.spec.open_files);
    apply_signals({.ignored = child.request.ignored_signals}, kStageSignals);
    std::vector<std::string> environment = merged(child.spec.environment, child.request.environment);
    ExecuteFailure failure = permit_reopening(child.wall);
    if (failure.number == 0) failure = go_through_walls(child.spec, child.wall, child.channel);
    if (failure.number == 0) failure = enter_directory(child.request.directory, environment);
    if (failure.number == 0) failure = execute(child.request.command, environment);
    bool is_directory = failure.step == kStepDirectory;
    Report report{.kind = Report::Kind::failed,
                  .number = failure.number,
                  .step = std::string(failure.step),
                  .object = is_directory ? child.request.directory : child.request.command.front()};
    (void)base::write_all(child.failures, encode(report));
    ::_exit(static_cast<int>(base::ExitCode::jail_failed));
}

}  // namespace

// ---- In the stage

void AddedCommands::obey(const SignalRequest& request, std::vector<base::Fd> descriptors) {
    if (request.starts) return start(request.slot, std::move(descriptors));
    auto found = running_.find(request.slot);
    if (found == running_.end()) return;
    // No process group has the child's number until the child has made its own session.
    const pid_t process = found->second.process;
    bool is_sent = request.to_group && ::kill(-process, request.signal) == 0;
    if (!is_sent) ::kill(process, request.signal);
}

void AddedCommands::report_failed(int slot, const std::string& object, int number) const {
    send_report(parts_.spec, Report{.kind = Report::Kind::failed,
                                    .number = number,
                                    .step = std::string(kStepStart),
                                    .object = object,
                                    .slot = slot});
}

void AddedCommands::start(int slot, std::vector<base::Fd> descriptors) {
    if (slot < 0 || slot >= kMostAdded || running_.contains(slot)) return;
    for (base::Fd& descriptor : descriptors) descriptor = above_standard(std::move(descriptor));
    bool is_complete = descriptors.size() == kAddedDescriptors &&
                       std::ranges::all_of(descriptors, [](const base::Fd& one) { return bool(one); });
    if (!is_complete) return report_failed(slot, "descriptors", EMFILE);
    base::Result<std::string> text = base::read_descriptor(descriptors.front().get(), kLargestAddedRequest);
    std::optional<AddedRequest> request = text ? decode_added(*text) : std::nullopt;
    if (!request) return report_failed(slot, "request", EPROTO);
    descriptors.erase(descriptors.begin());
    Running running;
    int number = remember_terminals(*request, descriptors);
    if (number == 0) number = start_process(*request, descriptors, running);
    if (number != 0) return report_failed(slot, request->command.front(), number);
    running.source = parts_.loop.add({[this, slot] {
                                          auto found = running_.find(slot);
                                          return found == running_.end() ? -1 : found->second.failures.get();
                                      },
                                      [this, slot] { hear_start(slot); }});
    running_[slot] = std::move(running);
}

namespace {

bool is_same_device(const struct stat& one, const struct stat& other) {
    return one.st_dev == other.st_dev && one.st_ino == other.st_ino && one.st_rdev == other.st_rdev;
}

}  // namespace

// Threat: a terminal that is not remembered can be resized from inside (tests/jail/exec_terminal.bats). Zero
// or an errno.
int AddedCommands::remember_terminals(const AddedRequest& request, const std::vector<base::Fd>& standard) {
    forget_closed_terminals();
    for (const base::Fd& descriptor : standard) {
        if (!::isatty(descriptor.get())) continue;
        const std::string path = "/proc/self/fd/" + std::to_string(descriptor.get());
        base::Fd name = above_standard(base::Fd(::open(path.c_str(), O_PATH | O_CLOEXEC)));
        struct stat status = {};
        if (!name || ::fstat(name.get(), &status) != 0) return errno;
        const bool is_known = std::ranges::any_of(terminals_, [&](const Terminal& known) {
            struct stat its = {};
            return ::fstat(known.name.get(), &its) == 0 && is_same_device(its, status);
        });
        if (is_known) continue;
        if (terminals_.size() == kMostTerminals) return EMFILE;
        terminals_.push_back({.name = std::move(name), .is_controlling = request.has_terminal});
    }
    return 0;
}

// The kernel removes the name of a pseudo-terminal when its other end is closed. The number can be used
// again.
void AddedCommands::forget_closed_terminals() {
    std::erase_if(terminals_, [](const Terminal& terminal) {
        struct stat status = {};
        return ::fstat(terminal.name.get(), &status) != 0 || status.st_nlink == 0;
    });
}

bool AddedCommands::is_passed_terminal(int terminal) {
    struct stat status = {};
    if (::fstat(terminal, &status) != 0) return false;
    forget_closed_terminals();
    // /dev/tty has the number of a controlling terminal.
    unsigned device = 0;
    if (::ioctl(terminal, TIOCGDEV, &device) != 0) return false;
    return std::ranges::any_of(terminals_, [&](const Terminal& known) {
        struct stat its = {};
        if (::fstat(known.name.get(), &its) != 0) return false;
        const bool is_other_name = status.st_rdev != device;
        return is_other_name ? known.is_controlling && its.st_rdev == device : is_same_device(its, status);
    });
}

// Zero or an errno.
int AddedCommands::start_process(const AddedRequest& request, const std::vector<base::Fd>& standard,
                                 Running& running) {
    const LaunchSpec& spec = parts_.spec;
    const bool needs_channel = has_own_doorman(spec);
    if (spec.trace.is_wanted()) return EOPNOTSUPP;  // a second listener, which the tracer does not have
    if (needs_channel && (parts_.wall.abi == 0 || !parts_.can_answer())) return EOPNOTSUPP;
    Channel failures, channel;
    if (int number = open_above_standard(open_failures, failures); number != 0) return number;
    if (needs_channel) {
        if (int number = open_above_standard(open_channel, channel); number != 0) return number;
    }
    const pid_t stage = ::getpid();
    const pid_t process = ::fork();
    if (process < 0) return errno;
    if (process == 0) {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (::getppid() != stage) ::_exit(0);
        become_added({spec, parts_.wall, request, failures.child.get(), channel.child.get()}, standard);
    }
    failures.child.reset();
    channel.child.reset();
    if (needs_channel && spec.doorman.is_answered) {
        if (base::Fd listener = take_listener(process, channel.stage.get()))
            parts_.answer(std::move(listener));
    }
    running.process = process;
    running.failures = std::move(failures.stage);
    return 0;
}

void AddedCommands::hear_start(int slot) {
    auto found = running_.find(slot);
    if (found != running_.end()) read_failure(found->second, slot);
}

// The pipe has the failure or is closed; the child writes it at once.
void AddedCommands::read_failure(Running& running, int slot) {
    if (!running.failures) return;
    base::Result<std::string> text = base::read_descriptor(running.failures.get(), kLargestAddedRequest);
    if (text) running.failure = *std::move(text);
    running.failures.reset();
    parts_.loop.remove(running.source);
    if (running.failure.empty())
        send_report(parts_.spec,
                    Report{.kind = Report::Kind::started, .number = running.process, .slot = slot});
}

bool AddedCommands::reap(pid_t process, int status) {
    auto found = std::ranges::find(running_, process, [](const auto& entry) { return entry.second.process; });
    if (found == running_.end()) return false;
    if (WIFSTOPPED(status)) return true;
    auto& [slot, running] = *found;
    read_failure(running, slot);
    Report report;
    if (!running.failure.empty() && take_report(running.failure, report)) {
        report.slot = slot;
    } else {
        const bool by_signal = WIFSIGNALED(status);
        report = {.kind = Report::Kind::ended,
                  .number = by_signal ? WTERMSIG(status) : WEXITSTATUS(status),
                  .by_signal = by_signal,
                  .slot = slot};
    }
    send_report(parts_.spec, report);
    running_.erase(found);
    return true;
}

}  // namespace inner
