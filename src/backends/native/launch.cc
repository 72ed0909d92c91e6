// SPDX-License-Identifier: MIT
// Theory of operation. Everything that needs memory or decisions is done here, before the clone: the script
// of the view, the recipe of the network, the launch specification of the stage. One clone makes all
// namespaces. The child builds the jail around itself (child_after_clone.h) and becomes the inner stage. The
// supervisor is its parent: the jail ends when the child is killed, and when the supervisor ends. A child
// that was started before the plan gets all of it as bytes instead (early_child.h).
//
// A Slurm job has its own namespaces, in which the jail is made. A process that enters a user namespace can't
// come back. So an intermediate process enters them, makes the child a child of the supervisor
// (CLONE_PARENT), sends its pid and exits.
#include "backends/native/launch.h"

#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

#include "backends/backend.h"
#include "backends/native/child_after_clone.h"
#include "backends/native/early_child.h"
#include "backends/native/render.h"
#include "backends/native/script.h"
#include "base/file.h"
#include "base/parse.h"
#include "base/text.h"
#include "inner/stage.h"

namespace backends::native {
namespace {

using policy::NetworkMode;

uint64_t namespaces_of(const plan::Plan& plan, const Caller& caller) {
    uint64_t flags = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWUTS;
    if (plan.processes.private_ipc && caller.namespaces.empty()) flags |= CLONE_NEWIPC;
    if (plan.network.reached != NetworkMode::open) flags |= CLONE_NEWNET;
    return flags;
}

// A command that writes to a terminal finds it at /dev/console too.
std::string console() {
    if (::isatty(STDOUT_FILENO) == 0) return {};
    char name[128];
    bool has_name = ::ttyname_r(STDOUT_FILENO, name, sizeof name) == 0;
    return has_name && std::string_view(name).starts_with("/dev/") ? name : std::string();
}

struct Prepared {
    Work work;
    inner::LaunchSpec spec;
    uint64_t flags = 0;
    int failures = -1;  // where the child writes why it failed
};

[[noreturn]] void become_jail(Prepared& prepared) {
    Failure failure = begin_jail(prepared.work);
    if (!failure) failure = build_jail(prepared.work);
    if (failure) {
        send_failure(prepared.failures, failure);
        ::_exit(static_cast<int>(base::ExitCode::jail_failed));
    }
    prepared.spec.mounts = prepared.work.mounts;
    ::_exit(inner::run_copied_stage(prepared.spec));
}

// The pid of the child, or minus errno. Only the parent returns.
pid_t clone_jail(Prepared& prepared, uint64_t further, uint64_t exit_signal) {
    // Read them here: inside, before they are mapped, the kernel returns other numbers.
    prepared.work.caller = {::getuid(), ::getgid()};
    struct clone_args arguments = {};
    arguments.flags = prepared.flags | further;
    arguments.exit_signal = exit_signal;
    auto child = static_cast<pid_t>(::syscall(SYS_clone3, &arguments, sizeof arguments));
    if (child == 0) become_jail(prepared);
    return child < 0 ? -errno : child;
}

[[noreturn]] void enter_and_clone(Prepared& prepared, const Caller& caller, int channel) {
    pid_t child = 0;
    for (int space : caller.namespaces) {
        if (child == 0 && ::setns(space, 0) != 0) child = -errno;
    }
    // With CLONE_PARENT the kernel uses the exit signal of this process.
    if (child == 0) child = clone_jail(prepared, CLONE_PARENT, 0);
    (void)!::write(channel, &child, sizeof child);
    ::_exit(0);
}

pid_t clone_in_namespaces(Prepared& prepared, const Caller& caller) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return -errno;
    base::Fd reader(ends[0]), writer(ends[1]);
    pid_t between = ::fork();
    if (between < 0) return -errno;
    if (between == 0) enter_and_clone(prepared, caller, writer.get());
    writer.reset();
    pid_t child = -ECHILD;
    if (::read(reader.get(), &child, sizeof child) != sizeof child) child = -ECHILD;
    while (::waitpid(between, nullptr, 0) < 0 && errno == EINTR) continue;
    return child;
}

// The pid of the jail's first process, or minus errno.
pid_t start_jail(Prepared& prepared, const Caller& caller) {
    if (!caller.namespaces.empty()) return clone_in_namespaces(prepared, caller);
    if (caller.early_child != nullptr) {
        pid_t child =
            caller.early_child->become_jail({.network = caller.network,
                                             .spec = prepared.spec,
                                             .script = *prepared.work.script,
                                             .namespaces = {.network = (prepared.flags & CLONE_NEWNET) != 0,
                                                            .ipc = (prepared.flags & CLONE_NEWIPC) != 0},
                                             .failures = prepared.failures,
                                             .cgroup = caller.cgroup,
                                             .listeners = caller.listeners});
        if (child > 0) return child;
    }
    return clone_jail(prepared, 0, SIGCHLD);
}

}  // namespace

base::Result<Launched> launch(const plan::Plan& plan, const host::Facts& /*facts*/, const Caller& caller) {
    Launched launched;
    Inheritance inheritance;
    if (base::Status opened = open_channels(plan, caller, inheritance, launched); !opened)
        return opened.error();
    Circumstances circumstances{
        .shares_ipc = !caller.namespaces.empty(), .sockets = caller.sockets, .console = console()};
    Script script = render(plan, circumstances);
    Prepared prepared{.spec = launch_spec_of(plan, caller, inheritance),
                      .flags = namespaces_of(plan, caller),
                      .failures = inheritance.diagnostics.get()};
    prepared.spec.standard_error = STDERR_FILENO;
    prepared.work = {.cgroup = caller.cgroup, .listeners = caller.listeners, .script = &script};
    network::netns::Recipe recipe;
    if (prepared.flags & CLONE_NEWNET) {
        recipe = network::netns::make_recipe(caller.network, true);
        prepared.work.network = &recipe;
    }
    launched.process = start_jail(prepared, caller);
    if (launched.process < 0) {
        base::Error error = base::system_error("make the namespaces of the jail", -launched.process);
        error.advice = "run 'agent-sandbox doctor' for the cause and the fix";
        return error;
    }
    return launched;
}

namespace {

constexpr std::string_view kDoctor = "run 'agent-sandbox doctor' for the cause and the fix";
constexpr std::string_view kPlan = "'agent-sandbox plan' shows the rule that asks for it";
constexpr std::string_view kAgain = "something else changed it just now; try again";

struct Row {
    Phase phase;
    std::string_view attempt;
};
constexpr Row kRows[] = {
    {Phase::namespaces, "make the namespaces of the jail"},
    {Phase::control_group, "enter the control group of the limits"},
    {Phase::user_map, "map the caller into the jail's user namespace"},
    {Phase::privacy, "take the jail's mounts apart from the host's"},
    {Phase::network, ""},  // the child sends the text
    {Phase::root, "make the root of the jail"},
    {Phase::step, ""},
    {Phase::layer, "mount the overlay of --cow over the project"},
    {Phase::old_root, "leave the host's root"},
    {Phase::last_namespace, "make the user namespace without power"},
    {Phase::privileges, "give up every capability"},
};

int number_in(std::string_view text) {
    return base::leading_number<int>(text).value_or(0);
}

std::string step_attempt(const std::string& target, const std::string& source) {
    std::string place = target == "." ? "/" : "/" + target;
    return source.empty() || source == target ? base::format("make {} in the jail", place)
                                              : base::format("show {} at {} in the jail", source, place);
}

// The path changed while it was used; the rule is not wrong.
bool is_of_change(int number) {
    return number == ELOOP || number == ENOENT || number == ENOTDIR || number == ESTALE;
}

// proc_pid_mountinfo(5): blanks and backslashes are octal numbers.
std::string unescaped_mount_point(std::string_view text) {
    std::string path;
    for (size_t i = 0; i < text.size(); ++i) {
        bool is_octal = text[i] == '\\' && i + 3 < text.size();
        if (!is_octal) {
            path += text[i];
            continue;
        }
        const int value = (text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + (text[i + 3] - '0');
        path += static_cast<char>(value);
        i += 3;
    }
    return path;
}

// The kernel refuses an overlay over a directory that has mounts of another user namespace below it
// (has_locked_children in fs/namespace.c). `target` is relative to the root.
std::string first_mount_below(std::string_view target) {
    constexpr size_t kMountPoint = 4;
    base::Result<std::string> mounts = base::read_file("/proc/self/mountinfo");
    if (!mounts) return "";
    for (std::string_view line : base::split(*mounts, '\n')) {
        std::vector<std::string_view> fields = base::split(line, ' ');
        if (fields.size() <= kMountPoint) continue;
        std::string point = unescaped_mount_point(fields[kMountPoint]);
        if (point.starts_with(base::format("/{}/", target))) return point;
    }
    return "";
}

}  // namespace

base::Error diagnose(std::string_view said) {
    std::vector<std::string_view> fields = base::split(said, '\0');
    if (fields.size() < 4) {
        return base::Error{.what = "the jail could not be built: it was ended while it was made",
                           .advice = std::string(kDoctor)};
    }
    auto phase = static_cast<Phase>(number_in(fields[0]));
    int number = number_in(fields[1]);
    std::string object = base::printable(fields[2]), other = base::printable(fields[3]);
    if (phase == Phase::step && number == ESTALE) {
        return base::Error{
            .what = base::format("/{} is another directory than when the job was submitted", object),
            .advice = "submit it again"};
    }
    const Row* row = std::ranges::find(kRows, phase, &Row::phase);
    std::string attempt = row == std::end(kRows) ? "build it" : std::string(row->attempt);
    if (phase == Phase::step) attempt = step_attempt(object, other);
    if (phase == Phase::network) attempt = object;
    base::Error error = base::system_error(attempt, number);
    error.what = "the jail could not be built: " + error.what;
    error.may_pass = phase == Phase::step && is_of_change(number);
    if (phase == Phase::layer) {
        const std::string mount = number == EINVAL ? first_mount_below(fields[2]) : "";
        if (!mount.empty())
            return base::Error{
                .what = base::format("the jail could not be built: another file system is mounted at {}, so "
                                     "--cow can't mount an overlay over the project",
                                     base::printable(mount)),
                .advice = "unmount it, or leave --cow out to write to the project itself"};
        error.advice = base::format(
            "it needs Linux 5.11 and a file system that can be the upper directory of an overlay, such as "
            "ext4, xfs or "
            "btrfs, at {}; leave --cow out to write to the project itself",
            other);
        return error;
    }
    error.advice = phase != Phase::step ? kDoctor : error.may_pass ? kAgain : kPlan;
    return error;
}

}  // namespace backends::native
