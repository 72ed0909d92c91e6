// SPDX-License-Identifier: MIT
#include "backends/bubblewrap/launch.h"

#include <fcntl.h>
#include <linux/nsfs.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <initializer_list>
#include <string>

#include "backends/backend.h"
#include "backends/bubblewrap/render.h"
#include "backends/watch_limits_after_clone.h"
#include "base/inside/jail_files.h"
#include "base/text.h"
#include "inner/launch_spec.h"
#include "inner/stage.h"

namespace backends::bubblewrap {
namespace {

using plan::Mount;
using plan::MountKind;

base::Result<std::vector<base::Fd>> open_contents(const plan::Plan& plan) {
    std::vector<base::Fd> contents;
    base::Fd nothing;
    for (const Mount& mount : plan.mounts) {
        if (mount.kind == MountKind::file || mount.kind == MountKind::private_file) {
            base::Result<base::Fd> content = base::memory_file("content", mount.source);
            if (!content) return content.error();
            contents.push_back(*std::move(content));
        } else if (mount.kind == MountKind::empty_file) {
            // bubblewrap closes each descriptor after reading it, so each mount needs its own. A duplicate is
            // the cheapest empty file.
            if (!nothing) nothing = base::Fd(::open("/dev/null", O_RDONLY | O_CLOEXEC));
            contents.emplace_back(::fcntl(nothing.get(), F_DUPFD_CLOEXEC, 3));
            if (!contents.back()) return base::system_error("open /dev/null", errno);
        }
    }
    return contents;
}

// bubblewrap makes its directories with mode 0755, but some programs check the mode of these.
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

std::string separated(const std::vector<std::string>& words) {
    std::string text;
    for (const std::string& word : words) text += word + '\0';
    return text;
}

// bubblewrap reports through a pipe which process is in its namespaces.
base::Result<base::Fd> open_information(Launched& launched) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return base::system_error("make a pipe", errno);
    launched.information = base::Fd(ends[0]);
    return base::Fd(ends[1]);
}

[[noreturn]] void become_bubblewrap(const std::string& program, const Inheritance& inheritance, int arguments,
                                    const Caller& caller, pid_t parent) {
    prepare_child(inheritance, caller, parent);
    std::string options = std::to_string(arguments);
    std::string spec = std::to_string(inheritance.spec.get());
    const char* words[] = {
        "bwrap",      "--args", options.c_str(), "--", base::kOwnProgramPath.data(), inner::kRole.data(),
        spec.c_str(), nullptr};
    const char* no_environment[] = {nullptr};
    ::execve(program.c_str(), const_cast<char* const*>(words), const_cast<char* const*>(no_environment));
    give_up("execute " + program);
}

}  // namespace

base::Result<Launched> launch(const plan::Plan& plan, const host::Facts& facts, const Caller& caller) {
    Launched launched;
    Inheritance inheritance;
    if (base::Status opened = open_channels(plan, caller, inheritance, launched); !opened)
        return opened.error();
    Opened opened{.unshares_user = !(facts.bwrap.is_setuid && facts.user_namespace_obstacle),
                  .shares_ipc = !caller.namespaces.empty(),
                  .sockets = caller.sockets};
    if (plan.network.egress.needs_gateway()) {
        base::Result<base::Fd> information = open_information(launched);
        if (!information) return information.error();
        opened.information = information->get();
        inheritance.others.push_back(*std::move(information));
    }
    base::Result<std::vector<base::Fd>> contents = open_contents(plan);
    if (!contents) return contents.error();
    for (base::Fd& content : *contents) {
        opened.contents.push_back(content.get());
        inheritance.others.push_back(std::move(content));
    }

    inner::LaunchSpec spec = launch_spec_of(plan, caller, inheritance);
    spec.world_writable = world_writable_directories(plan);
    base::Result<std::vector<inner::Check>> checks = make_checks(plan);
    if (!checks) return checks.error();
    spec.checks = *std::move(checks);
    if (base::Status written = write_launch_spec(spec, inheritance); !written) return written.error();

    base::Result<base::Fd> arguments = base::memory_file("arguments", separated(render(plan, opened)));
    if (!arguments) return arguments.error();
    int number = arguments->get();
    inheritance.others.push_back(*std::move(arguments));

    pid_t parent = ::getpid();
    launched.process = ::fork();
    if (launched.process < 0) return base::system_error("start bubblewrap", errno);
    if (launched.process == 0) become_bubblewrap(facts.bwrap.path.str(), inheritance, number, caller, parent);
    return launched;
}

base::Result<pid_t> jailed_process(int information) {
    constexpr std::string_view kKey = "\"child-pid\":";
    // A small JSON object, written in pieces. Read it to its end: if the rest is not read, bubblewrap exits
    // and leaves its child waiting for ever.
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

// In a child, because a process that enters a user namespace can't leave it again.
void limit_watches_of(const base::Fd& mount_namespace) {
    base::Fd owner(mount_namespace ? ::ioctl(mount_namespace.get(), NS_GET_USERNS) : -1);
    if (!owner) return;
    pid_t child = ::fork();
    if (child == 0) {
        ::prctl(PR_SET_DUMPABLE, 0);
        if (::setns(owner.get(), CLONE_NEWUSER) == 0) limit_watches();
        ::_exit(0);
    }
    while (child > 0 && ::waitpid(child, nullptr, 0) < 0 && errno == EINTR) continue;
}

namespace {

struct Row {
    std::string_view fragment;  // of bubblewrap's message
    std::string_view cause;
    std::string_view advice;
};

constexpr std::string_view kDoctor = "run 'agent-sandbox doctor' for the cause and the fix";
constexpr std::string_view kPlan = "'agent-sandbox plan' shows the rule that asks for it";

// A path that the plan found is gone, for example a file of /etc that useradd replaces.
bool is_of_change(std::string_view words) {
    return words.ends_with(": No such file or directory") &&
           std::ranges::any_of(
               std::initializer_list<std::string_view>{"source path", "type of source", "bind mount"},
               [&](std::string_view fragment) { return words.find(fragment) != words.npos; });
}

// The first row that matches decides; bubblewrap's own line follows the cause.
constexpr Row kRows[] = {
    {"No permissions to creat", "this host refuses user namespaces", kDoctor},
    {"Creating new namespace failed", "this host refuses new namespaces", kDoctor},
    {"setting up uid map", "this host refuses user namespaces", kDoctor},
    {"setting up gid map", "this host refuses user namespaces", kDoctor},
    {"No such capability", "bubblewrap does not know a capability of this kernel", kDoctor},
    // AppArmor allows the namespace but removes all capabilities in it; setting up the loopback device is the
    // first step that fails.
    {"loopback:", "this host lets namespaces be made but not be set up", kDoctor},
    {"Failed to make / slave", "this host lets namespaces be made but not be set up", kDoctor},
    {"Can't mount proc", "a fresh /proc can't be mounted here, as in a container that masks parts of its own",
     kDoctor},
    {"Can't find source path", "a path disappeared while the jail was built", kPlan},
    {"Can't get type of source", "a path disappeared while the jail was built", kPlan},
    {"Can't create file at", "a mount point can't be made", kPlan},
    {"Can't mkdir", "a mount point can't be made", kPlan},
    {"Can't make symlink", "a symbolic link can't be made", kPlan},
    {"Can't bind mount", "a path can't be mounted", kPlan},
    {"Can't remount readonly", "a mount can't be made read-only", kPlan},
    {"Exceeded maximum number of arguments", "there are more rules than bubblewrap takes",
     "name directories instead of the files in them"},
    {"Unknown option", "this bubblewrap is too old", kDoctor},
    {"execvp", "the jail does not show agent-sandbox itself", "report this as a fault of agent-sandbox"},
};

// The last line, without its "bwrap: ": warnings may precede the reason.
std::string_view last_line(std::string_view text) {
    text = base::trim(text);
    size_t newline = text.rfind('\n');
    if (newline != std::string_view::npos) text.remove_prefix(newline + 1);
    constexpr std::string_view kPrefix = "bwrap: ";
    if (text.starts_with(kPrefix)) text.remove_prefix(kPrefix.size());
    return text;
}

}  // namespace

base::Error diagnose(std::string_view standard_error) {
    std::string words = base::printable(last_line(standard_error));
    if (words.empty()) {
        return base::Error{.what = "the jail could not be built: bubblewrap ended without a word",
                           .advice = std::string(kDoctor)};
    }
    const Row* row = std::ranges::find_if(
        kRows, [&](const Row& candidate) { return words.find(candidate.fragment) != std::string::npos; });
    if (row == std::end(kRows)) {
        return base::Error{.what = "the jail could not be built: " + words, .advice = std::string(kDoctor)};
    }
    return base::Error{.what = base::format("the jail could not be built: {} ({})", row->cause, words),
                       .advice = std::string(row->advice),
                       .may_pass = is_of_change(words)};
}

}  // namespace backends::bubblewrap
