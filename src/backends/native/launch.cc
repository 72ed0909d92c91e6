// SPDX-License-Identifier: MIT
// Theory of operation. Everything that needs memory or decisions is done here, before the clone: the script
// of the view, the recipe of the network, the launch specification of the stage. One clone makes all
// namespaces. The child builds the jail around itself (child_after_clone.h) and becomes the inner stage. The
// supervisor is its parent: the jail ends when the child is killed, and when the supervisor ends.
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

#include <cerrno>

#include "backends/channels.h"
#include "backends/native/child_after_clone.h"
#include "backends/native/render.h"
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
    Failure failure = build_jail(prepared.work);
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
    launched.process =
        caller.namespaces.empty() ? clone_jail(prepared, 0, SIGCHLD) : clone_in_namespaces(prepared, caller);
    if (launched.process < 0) {
        base::Error error = base::system_error("make the namespaces of the jail", -launched.process);
        error.advice = "run 'agent-sandbox doctor' for the cause and the fix";
        return error;
    }
    return launched;
}

}  // namespace backends::native
