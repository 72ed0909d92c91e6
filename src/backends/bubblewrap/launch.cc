// SPDX-License-Identifier: MIT
#include "backends/bubblewrap/launch.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "backends/bubblewrap/checks.h"
#include "backends/bubblewrap/render.h"
#include "base/descriptors.h"
#include "inner/orders.h"
#include "inner/stage.h"

namespace backends::bubblewrap {
namespace {

using plan::Mount;
using plan::MountKind;

// bubblewrap shares the caller's process group. What a terminal or a kill of the group sends must reach the
// command through the supervisor, not end the jail by ending bubblewrap.
constexpr int kShielded[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2,
                             SIGALRM, SIGPIPE, SIGTSTP, SIGTTIN, SIGTTOU};

// Everything that the started process reads or writes; closed here once it is started.
struct Inheritance {
    std::vector<base::Fd> contents;
    base::Fd orders, arguments, control, diagnostics, standard_error, information;

    std::vector<int> numbers(int terminal, const std::vector<int>& kept) const {
        std::vector<int> all = kept;
        all.insert(all.end(), {orders.get(), arguments.get(), control.get(), standard_error.get()});
        if (terminal >= 0) all.push_back(terminal);
        if (information) all.push_back(information.get());
        for (const base::Fd& content : contents) all.push_back(content.get());
        return all;
    }
};

base::Result<std::vector<base::Fd>> open_contents(const plan::Plan& plan) {
    std::vector<base::Fd> contents;
    base::Fd nothing;
    for (const Mount& mount : plan.mounts) {
        if (mount.kind == MountKind::file || mount.kind == MountKind::private_file) {
            base::Result<base::Fd> content = base::memory_file("content", mount.source);
            if (!content) return content.error();
            contents.push_back(*std::move(content));
        } else if (mount.kind == MountKind::empty_file) {
            // bubblewrap closes each after reading it, so each mount needs its own; a duplicate is the
            // cheapest emptiness.
            if (!nothing) nothing = base::Fd(::open("/dev/null", O_RDONLY | O_CLOEXEC));
            contents.emplace_back(::fcntl(nothing.get(), F_DUPFD_CLOEXEC, 3));
            if (!contents.back()) return base::system_error("open /dev/null", errno);
        }
    }
    return contents;
}

base::Status open_channels(Inheritance& inheritance, Launched& launched, bool is_watched) {
    int ends[2];
    if (is_watched) {
        if (::pipe2(ends, O_CLOEXEC) != 0) return base::system_error("make a pipe", errno);
        launched.information = base::Fd(ends[0]);
        inheritance.information = base::Fd(ends[1]);
    }
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
        return base::system_error("make a socket", errno);
    }
    launched.control = base::Fd(ends[0]);
    inheritance.control = base::Fd(ends[1]);
    // With each report comes the pid of the stage as we see it, vouched for by the kernel.
    int on = 1;
    ::setsockopt(launched.control.get(), SOL_SOCKET, SO_PASSCRED, &on, sizeof on);
    if (::pipe2(ends, O_CLOEXEC) != 0) return base::system_error("make a pipe", errno);
    launched.diagnostics = base::Fd(ends[0]);
    inheritance.diagnostics = base::Fd(ends[1]);
    inheritance.standard_error = base::Fd(::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3));
    if (!inheritance.standard_error) return base::system_error("keep the standard error", errno);
    return base::success();
}

// bubblewrap makes its directories with mode 0755; these are used by programs that look at the mode.
std::vector<std::string> world_writable_directories(const plan::Plan& plan) {
    std::vector<std::string> directories;
    for (const Mount& mount : plan.mounts) {
        if (mount.kind == MountKind::dev) directories.push_back((mount.target / "shm").str());
        if (mount.kind != MountKind::tmpfs) continue;
        const std::string& target = mount.target.str();
        if (target == "/tmp" || target == "/var/tmp" || target == "/dev/shm") directories.push_back(target);
    }
    return directories;
}

landlock::Wall wall_of(const plan::SecondWall& planned) {
    landlock::Wall wall{.is_wanted = planned.is_wanted, .guards_files = planned.guards_files};
    for (const base::Path& path : planned.writable) wall.writable.push_back(path.str());
    for (const base::Path& path : planned.used) wall.used.push_back(path.str());
    return wall;
}

inner::Orders make_orders(const plan::Plan& plan, const Caller& caller, const Inheritance& inheritance) {
    inner::Orders orders{.command = plan.command};
    orders.environment.reserve(plan.environment.passed.size());
    for (const plan::Variable& variable : plan.environment.passed) {
        orders.environment.push_back(variable.name + "=" + variable.value);
    }
    orders.working_directory = plan.working_directory.str();
    orders.world_writable = world_writable_directories(plan);
    orders.system_calls = plan.system_calls;
    orders.wall = wall_of(plan.second_wall);
    orders.signals = caller.signals;
    orders.open_files = caller.open_files;
    orders.limits = caller.limits;
    orders.kept_descriptors = plan.kept_descriptors;
    orders.skipped_processes = plan.skipped_processes;
    orders.standard_error = inheritance.standard_error.get();
    orders.control = inheritance.control.get();
    orders.terminal = caller.terminal;
    orders.takes_terminal = caller.takes_terminal;
    orders.awaits_word = plan.network.egress.needs_gateway();
    return orders;
}

std::string separated(const std::vector<std::string>& words) {
    std::string text;
    for (const std::string& word : words) text += word + '\0';
    return text;
}

[[noreturn]] void give_up(const std::string& act) {
    (void)base::write_all(STDERR_FILENO, "cannot " + act + ": " + std::strerror(errno));
    ::_exit(static_cast<int>(base::ExitCode::jail_failed));
}

// In the child. The parent is named, because it may be dead before it can be asked for.
[[noreturn]] void become_bubblewrap(const std::string& program, const Inheritance& inheritance,
                                    const Caller& caller, const std::vector<int>& kept, pid_t parent) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(0);
    ::dup2(inheritance.diagnostics.get(), STDERR_FILENO);
    if (caller.cgroup >= 0 && !base::write_all(caller.cgroup, "0"))
        give_up("enter the control group of the limits");
    for (int space : caller.namespaces) {
        if (::setns(space, 0) != 0) give_up("enter the namespaces of the job");
    }
    base::inherit_only(inheritance.numbers(caller.terminal, kept));
    inner::apply_signals({.ignored = inner::signal_bits(kShielded)});
    std::string arguments = std::to_string(inheritance.arguments.get());
    std::string orders = std::to_string(inheritance.orders.get());
    const char* words[] = {
        "bwrap",        "--args", arguments.c_str(), "--", inner::kProgram.data(), inner::kRole.data(),
        orders.c_str(), nullptr};
    const char* no_environment[] = {nullptr};
    ::execve(program.c_str(), const_cast<char* const*>(words), const_cast<char* const*>(no_environment));
    give_up("execute " + program);
}

}  // namespace

base::Result<Launched> launch(const plan::Plan& plan, const host::Facts& facts, const Caller& caller) {
    Launched launched;
    Inheritance inheritance;
    bool is_watched = plan.network.egress.needs_gateway();
    if (base::Status opened = open_channels(inheritance, launched, is_watched); !opened)
        return opened.error();
    base::Result<std::vector<base::Fd>> contents = open_contents(plan);
    if (!contents) return contents.error();
    inheritance.contents = *std::move(contents);

    inner::Orders orders = make_orders(plan, caller, inheritance);
    base::Result<std::vector<inner::Check>> checks = make_checks(plan);
    if (!checks) return checks.error();
    orders.checks = *std::move(checks);
    base::Result<base::Fd> order_file = base::memory_file("orders", inner::encode(orders));
    if (!order_file) return order_file.error();
    inheritance.orders = *std::move(order_file);

    Opened opened{.unshares_user = !(facts.bwrap.is_setuid && facts.user_namespace_obstacle),
                  .shares_ipc = !caller.namespaces.empty(),
                  .sockets = caller.sockets,
                  .information = inheritance.information.get()};
    for (const base::Fd& content : inheritance.contents) opened.contents.push_back(content.get());
    base::Result<base::Fd> arguments = base::memory_file("arguments", separated(render(plan, opened)));
    if (!arguments) return arguments.error();
    inheritance.arguments = *std::move(arguments);

    pid_t parent = ::getpid();
    launched.process = ::fork();
    if (launched.process < 0) return base::system_error("start bubblewrap", errno);
    if (launched.process == 0)
        become_bubblewrap(facts.bwrap.path.str(), inheritance, caller, plan.kept_descriptors, parent);
    return launched;
}

base::Result<pid_t> jailed_process(int information) {
    constexpr std::string_view kKey = "\"child-pid\":";
    // A small JSON object, written in pieces. It is read to its end: bubblewrap gives up, and leaves its
    // child waiting for ever, when nobody takes the rest.
    std::string text;
    char bytes[256];
    while (text.find('}') == std::string::npos) {
        ssize_t got = ::read(information, bytes, sizeof bytes);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return base::system_error("read what bubblewrap says", errno);
        if (got == 0) break;
        text.append(bytes, static_cast<size_t>(got));
    }
    size_t at = text.find(kKey);
    pid_t process = at == std::string::npos ? 0 : std::atoi(text.c_str() + at + kKey.size());
    if (process <= 0) return base::Error{.what = std::string(kNoJail)};
    return process;
}

}  // namespace backends::bubblewrap
