// SPDX-License-Identifier: MIT
#include "doorman/caller.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>

#include "base/parse.h"
#include "doorman/answered_calls.h"

namespace doorman {
namespace {

constexpr unsigned kOfThread = O_EXCL;  // PIDFD_THREAD, Linux 6.9
constexpr uint64_t kPage = 4096;

bool is_same_directory(const std::string& one, const char* other) {
    struct stat of_one, of_other;
    return ::stat(one.c_str(), &of_one) == 0 && ::stat(other, &of_other) == 0 &&
           of_one.st_dev == of_other.st_dev && of_one.st_ino == of_other.st_ino;
}

}  // namespace

bool Caller::is_waiting() const {
    uint64_t id = notice_.id;
    return ::ioctl(listener_, SECCOMP_IOCTL_NOTIF_ID_VALID, &id) == 0;
}

std::string Caller::file(const char* name) const {
    return "/proc/" + std::to_string(thread()) + "/" + name;
}

bool Caller::is_like_us() const {
    Process process;
    return thread() > 0 && read_process(thread(), process) && process.file_user == ::geteuid() &&
           is_same_directory(file("root"), "/");
}

int Caller::take_descriptor(int number, base::Fd& descriptor) const {
    if (number < 0) return EBADF;
    // A thread may have a table of descriptors of its own. Older kernels know whole processes alone.
    base::Fd process(static_cast<int>(::syscall(kPidfdOpen, thread(), kOfThread)));
    if (!process) {
        Process identity;
        if (!read_process(thread(), identity)) return EPERM;
        process = base::Fd(static_cast<int>(::syscall(kPidfdOpen, identity.group, 0)));
    }
    if (!process) return EPERM;
    descriptor = base::Fd(static_cast<int>(::syscall(kPidfdGetfd, process.get(), number, 0)));
    return descriptor ? 0 : errno;
}

int Caller::read_memory(uint64_t address, void* place, size_t size) const {
    if (size == 0) return 0;
    struct iovec here = {place, size};
    // NOLINTNEXTLINE(performance-no-int-to-ptr): an address of another process
    struct iovec there = {reinterpret_cast<void*>(address), size};
    ssize_t got = ::process_vm_readv(thread(), &here, 1, &there, 1, 0);
    if (got == static_cast<ssize_t>(size)) return 0;
    return got < 0 && errno == EPERM ? EPERM : EFAULT;
}

int Caller::write_memory(uint64_t address, const void* content, size_t size) const {
    struct iovec here = {const_cast<void*>(content), size};
    // NOLINTNEXTLINE(performance-no-int-to-ptr): an address of another process
    struct iovec there = {reinterpret_cast<void*>(address), size};
    ssize_t put = ::process_vm_writev(thread(), &here, 1, &there, 1, 0);
    if (put == static_cast<ssize_t>(size)) return 0;
    return put < 0 && errno == EPERM ? EPERM : EFAULT;
}

int Caller::give_descriptor(int descriptor, bool closes_on_exec, uint32_t flags) const {
    struct seccomp_notif_addfd addition = {};
    addition.id = notice_.id;
    addition.flags = flags;
    addition.srcfd = static_cast<uint32_t>(descriptor);
    addition.newfd_flags = closes_on_exec ? O_CLOEXEC : 0;
    int given = ::ioctl(listener_, SECCOMP_IOCTL_NOTIF_ADDFD, &addition);
    return given < 0 ? -errno : given;
}

int Caller::read_text(uint64_t address, size_t limit, std::string& text) const {
    text.clear();
    while (text.size() < limit) {
        // Up to the end of a page: the text may end there, and nothing follow it.
        size_t size = std::min<uint64_t>(kPage - address % kPage, limit - text.size());
        size_t before = text.size();
        text.resize(before + size);
        if (int number = read_memory(address, text.data() + before, size); number != 0) return number;
        if (size_t end = text.find('\0', before); end != std::string::npos) {
            text.resize(end);
            return 0;
        }
        address += size;
    }
    return ENAMETOOLONG;
}

// Numbers of processes are plain arguments, so that the kernel can be left to carry the call out once the
// target is known. Threat: a target that ends at this very moment and whose number comes up again, for a
// process outside, before the call goes on. The numbers have to come round within microseconds; where
// Landlock keeps signals inside, it does so then as well. What is not a plain number (the caller's own group,
// a descriptor of a process) is carried out here, on what was looked at (tests/doorman/processes_test.cc).

namespace {

constexpr int kDeepest = 4096;

// The number after `label` in a file of lines; `word` counts the words after it.
std::optional<long> field(std::string_view text, std::string_view label, int word = 0) {
    size_t found = text.find(label);
    if (found == std::string_view::npos) return std::nullopt;
    text.remove_prefix(found + label.size());
    text = text.substr(0, text.find('\n'));
    for (;; --word) {
        size_t begin = text.find_first_not_of(" \t");
        if (begin == std::string_view::npos) return std::nullopt;
        text.remove_prefix(begin);
        if (word == 0) return base::leading_number<long>(text).value_or(0);
        text.remove_prefix(std::min(text.find_first_of(" \t"), text.size()));
    }
}

// Not base::read_file: files of /proc are read in one go, and absence is ordinary here.
std::string read_once(const std::string& path) {
    base::Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    std::string text(4096, '\0');
    ssize_t got = file ? ::read(file.get(), text.data(), text.size()) : -1;
    text.resize(got > 0 ? static_cast<size_t>(got) : 0);
    return text;
}

// The name of a program may hold anything, so what follows the last ')' counts: state, parent, group.
std::optional<pid_t> process_group(pid_t process) {
    std::string text = read_once("/proc/" + std::to_string(process) + "/stat");
    std::optional<long> found = field(text.substr(std::min(text.rfind(')'), text.size())), ")", 2);
    return found ? std::optional(static_cast<pid_t>(*found)) : std::nullopt;
}

// True when the group has a member, and all its members are of the jail. Outsiders do not join a group of
// ours, and no process can put them there.
bool is_jailed_group(pid_t group) {
    std::unique_ptr<DIR, int (*)(DIR*)> all(::opendir("/proc"), ::closedir);
    if (!all) return false;
    bool has_member = false;
    for (struct dirent* entry; (entry = ::readdir(all.get())) != nullptr;) {
        pid_t process = static_cast<pid_t>(std::atol(entry->d_name));
        if (process <= 0 || process_group(process) != group) continue;
        if (!is_jailed(process)) return false;
        has_member = true;
    }
    return has_member;
}

// Threat: in a pid namespace of its own the caller counts differently from us. All that it can name there is
// its own.
bool counts_as_we_do(const Caller& caller) {
    struct stat theirs, ours;
    return ::stat(caller.file("ns/pid").c_str(), &theirs) != 0 || ::stat("/proc/self/ns/pid", &ours) != 0 ||
           theirs.st_ino == ours.st_ino;
}

// Negative: a group.
bool exists(pid_t target) {
    return ::kill(target, 0) == 0 || errno != ESRCH;
}

Answer refusal(pid_t target) {
    return Answer::of(exists(target) ? EPERM : ESRCH);
}

Answer judge_process(const Caller& caller, pid_t target) {
    if (target <= 0) return Answer::of(EINVAL);
    return is_jailed(target) && caller.is_waiting() ? Answer::proceed() : refusal(target);
}

Answer signal_group(const Caller& caller, pid_t group, int signal) {
    if (group <= 1) return Answer::of(EPERM);
    if (!is_jailed_group(group) || !caller.is_waiting()) return refusal(-group);
    return Answer::of(::kill(-group, signal) == 0 ? 0 : errno);
}

Answer answer_kill(const Caller& caller) {
    pid_t target = caller.number(0);
    if (target == 0) {
        std::optional<pid_t> group = process_group(caller.thread());
        return group ? signal_group(caller, *group, caller.number(1)) : Answer::of(EPERM);
    }
    if (!counts_as_we_do(caller)) return Answer::proceed();
    if (target == std::numeric_limits<pid_t>::min()) return Answer::of(ESRCH);
    if (target < 0) return signal_group(caller, -target, caller.number(1));
    return judge_process(caller, target);
}

// Descriptors can be exchanged while we look, so the signal is sent through the duplicate.
Answer answer_descriptor_signal(const Caller& caller) {
    constexpr unsigned kOneThreadOrProcess = 3;  // PIDFD_SIGNAL_THREAD, PIDFD_SIGNAL_THREAD_GROUP
    unsigned flags = static_cast<unsigned>(caller.number(3));
    if (flags & ~kOneThreadOrProcess) return Answer::of(EPERM);
    base::Fd process;
    if (int number = caller.take_descriptor(caller.number(0), process); number != 0)
        return Answer::of(number);
    siginfo_t information = {};
    bool has_information = caller.argument(2) != 0;
    if (has_information && caller.read_memory(caller.argument(2), &information, sizeof information) != 0)
        return Answer::of(EFAULT);
    std::optional<pid_t> target = number_of(process.get());
    if (!target || !is_jailed(*target) || !caller.is_waiting()) return Answer::of(EPERM);
    // It can have ended while we looked, and its number be another's; the signal then reaches no process.
    long sent = ::syscall(kPidfdSendSignal, process.get(), caller.number(1),
                          has_information ? &information : nullptr, flags);
    return Answer::of(sent == 0 ? 0 : errno);
}

// Priorities of a group (which: PRIO_PGRP, IOPRIO_WHO_PGRP) or of one process; the filter refuses others.
Answer answer_priority(const Caller& caller) {
    int group_kind = caller.call() == SYS_setpriority ? int{PRIO_PGRP} : 2;
    pid_t target = caller.number(1);
    if (!counts_as_we_do(caller)) return Answer::proceed();
    if (caller.number(0) != group_kind) return judge_process(caller, target);
    bool is_granted = target > 0 && is_jailed_group(target) && caller.is_waiting();
    return is_granted ? Answer::proceed() : Answer::of(EPERM);
}

}  // namespace

bool read_process(pid_t thread, Process& process) {
    std::string text = read_once("/proc/" + std::to_string(thread) + "/status");
    // The name stands in the first line, with line feeds escaped.
    constexpr int kFileUser = 3;
    std::optional<long> group = field(text, "\nTgid:"), parent = field(text, "\nPPid:");
    std::optional<long> user = field(text, "\nUid:", kFileUser);
    if (!group || !parent || !user) return false;
    process = {static_cast<pid_t>(*group), static_cast<pid_t>(*parent), static_cast<uid_t>(*user)};
    return true;
}

bool is_jailed(pid_t thread) {
    const pid_t own = ::getpid();
    constexpr int kAttempts = 4;  // a parent that ends while we climb hands its children over to us
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
        pid_t at = thread;
        for (int depth = 0; depth < kDeepest; ++depth) {
            Process process;
            if (at <= 0 || !read_process(at, process)) break;
            if (process.group == own) return false;
            if (process.parent == own) return true;
            if (process.parent <= 1) return false;
            at = process.parent;
        }
    }
    return false;
}

std::optional<pid_t> number_of(int process) {
    // A descriptor of anything else has no such line.
    std::string text = read_once("/proc/self/fdinfo/" + std::to_string(process));
    std::optional<long> number = field(text, "\nPid:");
    return number && *number > 0 ? std::optional(static_cast<pid_t>(*number)) : std::nullopt;
}

Answer answer_for_process(const Caller& caller) {
    switch (caller.call()) {
        case SYS_kill:
            return answer_kill(caller);
        case kPidfdSendSignal:
            return answer_descriptor_signal(caller);
        case SYS_setpriority:
        case SYS_ioprio_set:
            return answer_priority(caller);
        default:
            break;
    }
    if (!counts_as_we_do(caller)) return Answer::proceed();
    // Of tgkill and rt_tgsigqueueinfo the thread counts, which comes second: the kernel checks that it
    // belongs to the process.
    bool names_thread = caller.call() == SYS_tgkill || caller.call() == SYS_rt_tgsigqueueinfo;
    return judge_process(caller, caller.number(names_thread ? 1 : 0));
}

}  // namespace doorman
