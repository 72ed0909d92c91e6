// SPDX-License-Identifier: MIT
// The creator of a user namespace has every capability inside. This opens the way to most kernel bugs, and to
// mounts over the files that the jail shows.
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "base/file.h"
#include "base/text.h"
#include "selftest/runner.h"

namespace selftest {
namespace {

constexpr std::string_view kClosed = "this host closes user namespaces to ordinary users";

struct NamespaceKind {
    std::string_view name;
    int flag;
};
constexpr NamespaceKind kNamespaceKinds[] = {
    {"user", CLONE_NEWUSER}, {"mount", CLONE_NEWNS}, {"pid", CLONE_NEWPID},       {"network", CLONE_NEWNET},
    {"ipc", CLONE_NEWIPC},   {"uts", CLONE_NEWUTS},  {"cgroup", CLONE_NEWCGROUP},
};

// Together with a user namespace, because an ordinary user needs one to create any other.
Finding unshare_with_user(int flag) {
    return outcome(::unshare(CLONE_NEWUSER | flag), "it was made");
}

Finding clone_user(const World&) {
    long child = ::syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0);
    if (child == 0) ::_exit(0);
    int error = errno;
    if (child > 0) ::waitpid(static_cast<pid_t>(child), nullptr, 0);
    errno = error;
    return outcome(child, "it was made");
}

Finding clone3_user(const World&) {
    struct {
        uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls;
    } arguments = {.flags = CLONE_NEWUSER, .exit_signal = SIGCHLD};
    long child = ::syscall(SYS_clone3, &arguments, sizeof arguments);
    if (child == 0) ::_exit(0);
    int error = errno;
    if (child > 0) ::waitpid(static_cast<pid_t>(child), nullptr, 0);
    errno = error;
    return outcome(child, "it was made");
}

// ---- Acts inside new namespaces

Finding with_own_mounts(const std::function<long()>& act, std::string_view done) {
    if (::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return held("no namespace: " + error_word(errno));
    return outcome(act(), done);
}

Finding mount_over_etc(const World&) {
    return with_own_mounts([] { return ::mount("none", "/etc", "tmpfs", 0, nullptr); }, "/etc was covered");
}

Finding uncover(const World& world) {
    std::string target = world.project + "/.env";
    return with_own_mounts(
        [&]() -> long {
            // Outside nothing is covered, so the control covers the file first.
            if (!world.is_inside && ::mount("/dev/null", target.c_str(), nullptr, MS_BIND, nullptr) != 0)
                return -1;
            return ::umount2(target.c_str(), MNT_DETACH);
        },
        "the cover was taken away");
}

Finding remount_writable(const World&) {
    return with_own_mounts(
        []() -> long {
            if (::mount("/usr", "/usr", nullptr, MS_BIND, nullptr) != 0) return -1;
            if (::mount(nullptr, "/usr", nullptr, MS_REMOUNT | MS_BIND, nullptr) != 0) return -1;
            struct statvfs status;
            ::statvfs("/usr", &status);
            errno = EROFS;
            return status.f_flag & ST_RDONLY ? -1 : 0;
        },
        "/usr can be written");
}

Finding overlay(const World& world) {
    return with_own_mounts(
        [&] {
            std::string options =
                base::format("lowerdir=/usr,upperdir={}/upper,workdir={}/work", world.project, world.project);
            ::mkdir((world.project + "/upper").c_str(), 0700);
            ::mkdir((world.project + "/work").c_str(), 0700);
            long mounted = ::mount("none", "/usr", "overlay", 0, options.c_str());
            int error = errno;
            ::umount2("/usr", MNT_DETACH);
            ::rmdir((world.project + "/work/work").c_str());
            for (const char* name : {"/upper", "/work"}) ::rmdir((world.project + name).c_str());
            errno = error;
            return mounted;
        },
        "/usr was overlaid");
}

Finding change_root(const World& world) {
    return with_own_mounts([&] { return ::chroot(world.project.c_str()); }, "the root was changed");
}

Finding mount_by_new_calls(const World&) {
    return with_own_mounts([] { return ::syscall(SYS_fsopen, "tmpfs", 0); }, "a file system was opened");
}

Finding gain_capabilities(const World&) {
    if (::unshare(CLONE_NEWUSER) != 0) return held("no namespace: " + error_word(errno));
    bool has_none = content_of("/proc/self/status").find("CapEff:\t0000000000000000") != std::string::npos;
    return has_none ? held("without capabilities") : escaped("every capability in it");
}

// ---- The namespaces of the jail itself

Finding compare(const World& world, const std::string& name) {
    char text[64] = {};
    std::string link = "/proc/self/ns/" + name;
    if (::readlink(link.c_str(), text, sizeof text - 1) <= 0) return held(errno);
    bool is_same = world.namespaces.find(text) != std::string::npos;
    return is_same ? escaped("it is the caller's") : held("its own");
}

Finding enter(const std::string& file) {
    base::Fd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
    if (!fd) return held(errno);
    return outcome(::setns(fd.get(), 0), "it was entered");
}

Finding rename_host(const World&) {
    struct utsname names;
    ::uname(&names);
    return outcome(::sethostname(names.nodename, std::strlen(names.nodename)), "the name can be set");
}

}  // namespace

void add_namespaces(Probes& probes) {
    auto add = [&](const std::string& name, const std::string& what, Attempt attempt,
                   std::string_view excuse = {}, std::string_view permitted_by = {},
                   Scenario scenario = Scenario::standard) {
        probes.push_back({.name = "namespaces/" + name,
                          .what = what,
                          .attempt = std::move(attempt),
                          .scenario = scenario,
                          .excuse = excuse,
                          .permitted_by = permitted_by});
    };
    for (const NamespaceKind& kind : kNamespaceKinds) {
        add(
            "new-" + std::string(kind.name), "makes a new namespace: " + std::string(kind.name),
            [flag = kind.flag](const World&) { return unshare_with_user(flag); }, kClosed, kNested);
    }
    add("new-by-clone", "makes a user namespace with clone", clone_user, kClosed, kNested);
    add("new-by-clone3", "makes a user namespace with clone3", clone3_user, kClosed, kNested);
    add("capabilities", "gains capabilities in a user namespace", gain_capabilities, kClosed, kNested);
    add("mount-over", "covers /etc in namespaces of its own", mount_over_etc, kClosed);
    add("overlay", "lays a writable layer over /usr in namespaces of its own", overlay,
        "this kernel or file system has no such layers for ordinary users");
    // If nesting is permitted, the namespaces can be created, and the mounts must hold alone.
    for (Scenario scenario : {Scenario::standard, Scenario::nested}) {
        std::string suffix = scenario == Scenario::nested ? "-nested" : "";
        add("uncover" + suffix, "takes the cover off a masked file in namespaces of its own", uncover,
            kClosed, {}, scenario);
        add("remount" + suffix, "makes /usr writable in namespaces of its own", remount_writable, kClosed, {},
            scenario);
    }
    add("change-root", "changes the root in namespaces of its own", change_root, kClosed, kNested);
    add("new-mount-calls", "opens a file system in namespaces of its own", mount_by_new_calls, kClosed,
        kNested);
    for (const char* name : {"mnt", "pid", "ipc", "uts", "cgroup", "user", "net"}) {
        std::string_view permitted_by = std::string_view(name) == "net"   ? "network.mode=open"
                                        : std::string_view(name) == "ipc" ? "isolation.private_ipc=false"
                                                                          : "";
        add(
            "shared-" + std::string(name), "lives in the caller's namespace: " + std::string(name),
            [name](const World& world) { return compare(world, name); }, "this kernel has no such namespace",
            permitted_by);
        add(
            "enter-" + std::string(name), "enters the namespace of pid 1: " + std::string(name),
            [name](const World& world) {
                return enter(base::format("/proc/{}/ns/{}", world.guardian, name));
            },
            "needs root");
    }
    add("host-name", "renames the host", rename_host, "needs root");
}

}  // namespace selftest
