// SPDX-License-Identifier: MIT
// The properties of the walker as a process, and what it can see of other processes and do to them.
#include <dirent.h>
#include <fcntl.h>
#include <linux/ioprio.h>
#include <sched.h>
#include <signal.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <optional>
#include <set>
#include <span>

#include "base/text.h"
#include "differential/report.h"

namespace differential {
namespace {

std::vector<std::string> names_in(const std::string& path) {
    std::vector<std::string> names;
    DIR* directory = ::opendir(path.c_str());
    if (directory == nullptr) return names;
    while (const struct dirent* entry = ::readdir(directory)) {
        if (entry->d_name[0] != '.') names.emplace_back(entry->d_name);
    }
    ::closedir(directory);
    std::ranges::sort(names);
    return names;
}

std::optional<std::string> link_of(const std::string& path) {
    char text[PATH_MAX];
    ssize_t length = ::readlink(path.c_str(), text, sizeof text);
    if (length < 0) return std::nullopt;
    return std::string(text, static_cast<size_t>(length));
}

std::string without_tabs(std::string_view text) {
    std::string result(text);
    std::ranges::replace(result, '\t', ' ');
    return result;
}

// Fields that change by themselves, or identify the process.
constexpr std::string_view kPassingFields[] = {"VmPeak",
                                               "VmSize",
                                               "VmHWM",
                                               "VmRSS",
                                               "RssAnon",
                                               "RssFile",
                                               "VmData",
                                               "VmPTE",
                                               "VmSwap",
                                               "VmStk",
                                               "VmExe",
                                               "VmLib",
                                               "RssShmem",
                                               "VmLck",
                                               "VmPin",
                                               "FDSize",
                                               "State",
                                               "voluntary_ctxt_switches",
                                               "nonvoluntary_ctxt_switches",
                                               "Mems_allowed",
                                               "Cpus_allowed",
                                               "HugetlbPages"};

void tell_status(Report& report, const std::string& subject, const std::string& path) {
    int number = 0;
    std::string status = content_of(path, number);
    if (number != 0) return report.verdict(subject, path, number);
    for (std::string_view line : base::split(status, '\n')) {
        size_t colon = line.find(':');
        if (colon == std::string_view::npos) continue;
        std::string_view name = line.substr(0, colon);
        bool is_passing = std::ranges::find(kPassingFields, name) != std::end(kPassingFields);
        if (!is_passing) report.say(subject, name, without_tabs(base::trim(line.substr(colon + 1))));
    }
}

void tell_content(Report& report, const std::string& path) {
    int number = 0;
    std::string content = content_of(path, number);
    report.say("content", path, name_of_errno(number) + " " + without_tabs(content));
}

// The names of the keyrings, without the numbers that the kernel assigns. Their count is not reported: it
// depends on when the kernel removes unused keys.
void tell_keys(Report& report) {
    int number = 0;
    std::set<std::string> keys;
    std::string text = content_of("/proc/keys", number);
    for (std::string_view line : base::split(text, '\n')) {
        size_t type = line.find("keyring ");
        if (type != std::string_view::npos) keys.emplace(line.substr(type, line.find(':', type) - type));
    }
    report.verdict("keys", "readable", number);
    for (const std::string& key : keys) report.say("keys", key, "");
}

void tell_descriptors(Report& report) {
    for (const std::string& name : names_in("/proc/self/fd")) {
        int fd = std::atoi(name.c_str());
        std::optional<std::string> link = link_of("/proc/self/fd/" + name);
        // Skip the descriptor of the listing itself.
        if (!link || *link == "/proc/self/fd" || link->ends_with("/fd")) continue;
        std::string what = *link;
        if (size_t bracket = what.find(":["); bracket != std::string::npos) what.resize(bracket);
        if (what.starts_with("/dev/pts/")) what = "/dev/pts/<n>";
        struct stat status = {};
        ::fstat(fd, &status);
        report.say("descriptor", name,
                   what + " kind " + std::to_string((status.st_mode & S_IFMT) >> 12u) + " status " +
                       std::to_string(::fcntl(fd, F_GETFL)) + " flags " +
                       std::to_string(::fcntl(fd, F_GETFD)) + (::isatty(fd) ? " terminal" : ""));
    }
}

void tell_relations(Report& report) {
    pid_t self = ::getpid();
    report.say("process", "number", std::to_string(self));
    report.say("process", "parent", std::to_string(::getppid()));
    report.say("process", "group", std::to_string(::getpgrp()));
    report.say("process", "session", std::to_string(::getsid(0)));
    report.say("process", "group of the first", std::to_string(::getpgid(1)));
    report.say("process", "session of the first", std::to_string(::getsid(1)));
    int terminal = ::open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);
    report.verdict("process", "terminal", terminal < 0 ? errno : 0);
    if (terminal < 0) return;
    report.say("process", "foreground", std::to_string(::tcgetpgrp(terminal)));
    report.say("process", "session of the terminal", std::to_string(::tcgetsid(terminal)));
    ::close(terminal);
}

// A prctl option that needs no argument.
struct Question {
    const char* name;
    int option;
};
constexpr Question kQuestions[] = {{"dumpable", PR_GET_DUMPABLE},
                                   {"no new privileges", PR_GET_NO_NEW_PRIVS},
                                   {"seccomp", PR_GET_SECCOMP},
                                   {"secure bits", PR_GET_SECUREBITS},
                                   {"keeps capabilities", PR_GET_KEEPCAPS},
                                   {"timer slack", PR_GET_TIMERSLACK},
                                   {"no large pages", PR_GET_THP_DISABLE},
                                   {"flusher", PR_GET_IO_FLUSHER}};

void tell_kernels_view(Report& report) {
    for (const Question& question : kQuestions)
        report.say("asked", question.name, std::to_string(::prctl(question.option, 0, 0, 0, 0)));
    int value = -1;
    ::prctl(PR_GET_PDEATHSIG, &value, 0, 0, 0);
    report.say("asked", "signal at the parent's death", std::to_string(value));
    ::prctl(PR_GET_CHILD_SUBREAPER, &value, 0, 0, 0);
    report.say("asked", "subreaper", std::to_string(value));
    report.say("asked", "personality", std::to_string(::personality(0xffffffff)));
    report.say("asked", "priority", std::to_string(::getpriority(PRIO_PROCESS, 0)));
    report.say("asked", "scheduler", std::to_string(::sched_getscheduler(0)));
    report.say("asked", "disk priority", std::to_string(::syscall(SYS_ioprio_get, IOPRIO_WHO_PROCESS, 0)));
    std::string capabilities;
    for (unsigned long number = 0; ::prctl(PR_CAPBSET_READ, number, 0, 0, 0) >= 0; ++number)
        capabilities += std::to_string(::prctl(PR_CAPBSET_READ, number, 0, 0, 0));
    report.say("asked", "bounding set", capabilities);
    mode_t mask = ::umask(0);
    ::umask(mask);
    report.say("asked", "umask", std::to_string(mask));
    char directory[PATH_MAX];
    report.say("asked", "working directory",
               ::getcwd(directory, sizeof directory) ? directory : name_of_errno(errno));
    struct utsname names;
    ::uname(&names);
    report.say("asked", "host name", std::string(names.nodename) + " " + names.domainname);
}

void tell_namespaces(Report& report, const WalkerArguments& arguments) {
    for (const std::string& row : arguments.host_namespaces) {
        size_t equals = row.find('=');
        std::string kind = row.substr(0, equals);
        std::optional<std::string> own = link_of("/proc/self/ns/" + kind);
        std::optional<std::string> first = link_of("/proc/1/ns/" + kind);
        bool is_hosts = own == kind + ":[" + row.substr(equals + 1) + "]";
        report.say("namespace", kind, own ? (is_hosts ? "the host's" : "its own") : "unknown");
        report.say("namespace of the first", kind,
                   first ? (first == own ? "the same" : "another") : "unknown");
    }
}

}  // namespace

void tell_process(Report& report, const WalkerArguments& arguments) {
    tell_status(report, "status", "/proc/self/status");
    for (const char* name :
         {"uid_map", "gid_map", "projid_map", "setgroups", "limits", "oom_score_adj", "cgroup", "loginuid",
          "sessionid", "timens_offsets", "attr/current", "coredump_filter"})
        tell_content(report, std::string("/proc/self/") + name);
    for (char** variable = environ; *variable != nullptr; ++variable) report.say("variable", *variable, "");
    tell_descriptors(report);
    tell_relations(report);
    tell_kernels_view(report);
    tell_namespaces(report, arguments);
    for (const char* path :
         {"/proc/sys/kernel/hostname", "/proc/sys/user/max_user_namespaces",
          "/proc/sys/user/max_mnt_namespaces", "/proc/sys/user/max_pid_namespaces", "/proc/sys/kernel/shmmax",
          "/proc/sys/kernel/msgmax", "/proc/sys/fs/mqueue/queues_max", "/proc/filesystems", "/proc/swaps"})
        tell_content(report, path);
    tell_keys(report);
}

void tell_first_process(Report& report) {
    tell_status(report, "first-status", "/proc/1/status");
    // Threat: these files would show the launcher's arguments and everything in its memory
    // (tests/jail/differential.bats).
    for (const char* name :
         {"environ", "mem",       "maps",          "smaps",      "auxv",           "io",
          "stack",   "syscall",   "personality",   "pagemap",    "mountinfo",      "mountstats",
          "cmdline", "comm",      "limits",        "stat",       "wchan",          "uid_map",
          "gid_map", "setgroups", "oom_score_adj", "clear_refs", "coredump_filter"}) {
        std::string path = std::string("/proc/1/") + name;
        for (int flags : {O_RDONLY, O_WRONLY}) {
            int fd = ::open(path.c_str(), flags | O_CLOEXEC);
            report.verdict(flags == O_RDONLY ? "first-reads" : "first-writes", path, fd < 0 ? errno : 0);
            if (fd >= 0) ::close(fd);
        }
        int number = 0;
        (void)content_of(path, number, 1);
        report.verdict("first-content", path, number);
    }
    for (const char* name : {"root", "cwd", "exe", "ns/user", "ns/mnt", "ns/pid", "ns/net", "ns/ipc"})
        report.verdict("first-link", name, link_of(std::string("/proc/1/") + name) ? 0 : errno);
    for (const char* name : {"fd", "map_files", "fdinfo", "task", "root/", "cwd/"}) {
        DIR* directory = ::opendir((std::string("/proc/1/") + name).c_str());
        report.verdict("first-lists", name, directory == nullptr ? errno : 0);
        if (directory != nullptr) ::closedir(directory);
    }
    for (const char* name : {"comm", "cmdline", "cgroup", "loginuid"})
        tell_content(report, std::string("/proc/1/") + name);
    for (int signal : {0, SIGCONT, SIGTERM, SIGINT, SIGKILL, SIGSTOP})
        report.verdict("first-signal", std::to_string(signal), ::kill(1, signal) == 0 ? 0 : errno);
    report.verdict("first-does", "ptrace", ::ptrace(PTRACE_SEIZE, 1, nullptr, nullptr) == 0 ? 0 : errno);
    char byte = 0;
    struct iovec here = {&byte, 1}, there = {&byte, 1};
    report.verdict("first-does", "read memory",
                   ::process_vm_readv(1, &here, 1, &there, 1, 0) == 1 ? 0 : errno);
    struct rlimit limit;
    report.verdict("first-does", "limits", ::prlimit(1, RLIMIT_CORE, nullptr, &limit) == 0 ? 0 : errno);
    report.verdict("first-does", "priority", ::setpriority(PRIO_PROCESS, 1, 0) == 0 ? 0 : errno);
}

void tell_processes(Report& report) {
    for (const std::string& name : names_in("/proc")) {
        if (name.find_first_not_of("0123456789") != std::string::npos) continue;
        int number = 0;
        std::string status = content_of("/proc/" + name + "/status", number);
        for (std::string_view line : base::split(status, '\n')) {
            for (std::string_view field :
                 {"Name:", "PPid:", "NSsid:", "NSpgid:", "NSpid:", "Threads:", "Kthread:"}) {
                if (line.starts_with(field))
                    report.say("seen", name + " " + std::string(field), without_tabs(line));
            }
        }
    }
}

}  // namespace differential
