// SPDX-License-Identifier: MIT
#include "backends/backend.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/process/descriptors.h"
#include "base/text.h"
#include "plan/backend.h"
#include "plan/rules.h"

namespace backends {
namespace {

// A backend's program is in the caller's process group. A signal of the terminal or a kill of the group must
// reach the command through the supervisor, and must not end the jail by ending that program.
constexpr int kShielded[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2,
                             SIGALRM, SIGPIPE, SIGTSTP, SIGTTIN, SIGTTOU};

landlock::Wall wall_of(const plan::SecondWall& planned) {
    landlock::Wall wall{.is_wanted = planned.is_wanted, .guards_files = planned.guards_files};
    wall.is_logged = planned.is_logged;
    for (const base::Path& path : planned.writable) wall.writable.push_back(path.str());
    for (const base::Path& path : planned.used) wall.used.push_back(path.str());
    return wall;
}

}  // namespace

std::vector<int> Inheritance::numbers() const {
    std::vector<int> all = kept;
    all.insert(all.end(), {spec.get(), control.get(), standard_error.get()});
    for (const base::Fd& other : others) all.push_back(other.get());
    return all;
}

base::Status open_channels(const plan::Plan& plan, const Caller& caller, Inheritance& inheritance,
                           Launched& launched) {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
        return base::system_error("make a socket", errno);
    }
    launched.control = base::Fd(ends[0]);
    inheritance.control = base::Fd(ends[1]);
    // Each report carries the pid of the stage as we see it, set by the kernel.
    int on = 1;
    ::setsockopt(launched.control.get(), SOL_SOCKET, SO_PASSCRED, &on, sizeof on);
    if (::pipe2(ends, O_CLOEXEC) != 0) return base::system_error("make a pipe", errno);
    launched.diagnostics = base::Fd(ends[0]);
    inheritance.diagnostics = base::Fd(ends[1]);
    inheritance.standard_error = base::Fd(::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3));
    if (!inheritance.standard_error) return base::system_error("keep the standard error", errno);
    inheritance.kept = plan.kept_descriptors;
    if (caller.terminal >= 0) inheritance.kept.push_back(caller.terminal);
    if (caller.handoff >= 0) inheritance.kept.push_back(caller.handoff);
    return base::success();
}

// The masked files of the project; of many, the first ones.
static std::vector<std::string> watched_masks(const plan::Plan& plan) {
    std::vector<std::string> paths;
    for (const plan::Mount& mount : plan.mounts) {
        if (paths.size() == kMostWatchedMasks) break;
        const plan::PathRule* rule = plan::deciding_rule(plan.rules, mount.target);
        bool is_content = mount.kind == plan::MountKind::empty_file || mount.kind == plan::MountKind::file;
        bool is_mask = is_content && mount.target.is_strictly_within(plan.project) && rule != nullptr &&
                       rule->path == mount.target && rule->access == plan::Access::masked;
        if (is_mask) paths.push_back(mount.target.str());
    }
    return paths;
}

inner::LaunchSpec launch_spec_of(const plan::Plan& plan, const Caller& caller,
                                 const Inheritance& inheritance) {
    inner::LaunchSpec spec{.command = plan.command};
    spec.environment.reserve(plan.environment.passed.size());
    for (const plan::Variable& variable : plan.environment.passed) {
        spec.environment.push_back(base::format("{}={}", variable.name, variable.value));
    }
    spec.masked = watched_masks(plan);
    spec.working_directory = plan.working_directory.str();
    // Without a view of its own, the jail sees the real home directory there.
    bool has_private_home = plan::traits_of(plan.backend).has_view && !plan.private_home.is_root();
    if (has_private_home) spec.private_home = plan.private_home.str();
    spec.system_calls = plan.system_calls;
    spec.trace = plan.trace;
    spec.wall = wall_of(plan.second_wall);
    spec.doorman = caller.answers;
    spec.signals = caller.signals;
    spec.open_files = caller.open_files;
    spec.limits = caller.limits;
    spec.kept_descriptors = plan.kept_descriptors;
    spec.skipped_processes = plan.skipped_processes;
    spec.is_job = plan.is_job;
    spec.standard_error = inheritance.standard_error.get();
    spec.control = inheritance.control.get();
    spec.terminal = caller.terminal;
    spec.takes_terminal = caller.takes_terminal;
    return spec;
}

base::Status write_launch_spec(const inner::LaunchSpec& spec, Inheritance& inheritance) {
    base::Result<base::Fd> file = base::memory_file("launch_spec", inner::encode(spec));
    if (!file) return file.error();
    inheritance.spec = *std::move(file);
    return base::success();
}

base::Fd mount_namespace_of(pid_t process) {
    return base::Fd(::open(base::format("/proc/{}/ns/mnt", process).c_str(), O_RDONLY | O_CLOEXEC));
}

void give_up(const std::string& act) {
    (void)base::write_all(STDERR_FILENO, "cannot " + act + ": " + std::strerror(errno));
    ::_exit(static_cast<int>(base::ExitCode::jail_failed));
}

void prepare_child(const Inheritance& inheritance, const Caller& caller, pid_t parent) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(0);
    ::dup2(inheritance.diagnostics.get(), STDERR_FILENO);
    if (caller.cgroup >= 0 && !base::write_all(caller.cgroup, "0"))
        give_up("enter the control group of the limits");
    for (int space : caller.namespaces) {
        if (::setns(space, 0) != 0) give_up("enter the namespaces of the job");
    }
    base::inherit_only(inheritance.numbers());
    inner::apply_signals({.ignored = inner::signal_bits(kShielded)});
}

}  // namespace backends
