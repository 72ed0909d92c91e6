// SPDX-License-Identifier: MIT
// Processes outside, pid 1 of the jail, and privileges that a process could gain. If a probe attacks pid 1,
// its control attacks an ordinary process of the same user.
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <cstdlib>

#include "base/file.h"
#include "base/parse.h"
#include "base/text.h"
#include "selftest/attempts/neighbour.h"
#include "selftest/runner.h"

namespace selftest {
namespace {

constexpr unsigned kSetUserId = 04755;
constexpr size_t kMostMemory = 256u << 10;

std::string entry_of(int64_t process, std::string_view name) {
    return base::format("/proc/{}/{}", process, name);
}

Finding trace(pid_t process) {
    if (::ptrace(PTRACE_SEIZE, process, nullptr, nullptr) != 0) return held(errno);
    ::ptrace(PTRACE_DETACH, process, nullptr, nullptr);
    return escaped("it is traced");
}

struct Range {
    unsigned long begin = 0, end = 0;
};

// The memory range with the environment of a process.
Range stack_of(int64_t process) {
    std::string maps = content_of(entry_of(process, "maps"));
    for (std::string_view line : base::split(maps, '\n')) {
        if (!line.ends_with("[stack]")) continue;
        unsigned long begin = base::take_number<unsigned long>(line, 16).value_or(0);
        unsigned long end = base::leading_number<unsigned long>(line.substr(1), 16).value_or(0);
        return {end - begin > kMostMemory ? end - kMostMemory : begin, end};
    }
    return {};
}

Finding judge_memory(const World& world, ssize_t got, const std::string& memory) {
    if (got < 0) return held(errno);
    bool is_there = memory.find(world.secret) != std::string::npos;
    return is_there ? escaped("the secret was read from its memory") : escaped("its memory was read");
}

Finding read_memory_by_call(const World& world) {
    Range stack = stack_of(world.guardian);
    std::string memory(stack.end - stack.begin ? stack.end - stack.begin : 1, '\0');
    // The kernel checks the permission before the address.
    struct iovec here = {memory.data(), memory.size()};
    struct iovec there = {std::bit_cast<void*>(stack.begin), memory.size()};
    ssize_t got = ::process_vm_readv(static_cast<pid_t>(world.guardian), &here, 1, &there, 1, 0);
    return judge_memory(world, got, memory);
}

Finding read_memory_by_file(const World& world) {
    base::Fd fd(::open(entry_of(world.guardian, "mem").c_str(), O_RDONLY | O_CLOEXEC));
    if (!fd) return held(errno);
    Range stack = stack_of(world.guardian);
    std::string memory(stack.end - stack.begin, '\0');
    return judge_memory(
        world, ::pread(fd.get(), memory.data(), memory.size(), static_cast<off_t>(stack.begin)), memory);
}

Finding take_descriptor(const World& world) {
    base::Fd process(static_cast<int>(::syscall(SYS_pidfd_open, world.guardian, 0)));
    if (!process) return held(errno);
    base::Fd taken(static_cast<int>(::syscall(SYS_pidfd_getfd, process.get(), 0, 0)));
    return outcome(taken.get(), "a descriptor was taken out of it");
}

// A process ignores it by default. Signal 0 would not do: it sends nothing, and is permitted where signals
// are refused one by one (Landlock before ABI 6).
constexpr int kHarmless = SIGWINCH;

Finding signal_by_descriptor(const World& world) {
    base::Fd process(static_cast<int>(::syscall(SYS_pidfd_open, world.process, 0)));
    if (!process) return held(errno);
    return outcome(::syscall(SYS_pidfd_send_signal, process.get(), kHarmless, nullptr, 0),
                   "it can be signalled");
}

// SIGURG is ignored by default; the neighbour creates a file when it receives it.
Finding signal_everyone(const World& world) {
    if (!world.is_inside) return held("it would reach every process of this user");
    ::kill(-1, SIGURG);
    return held("sent");
}

Finding was_signalled(const World& world) {
    return ::access(signalled_file(world).c_str(), F_OK) == 0 ? escaped("a process outside got the signal")
                                                              : held("no process outside got it");
}

// A line of /proc/self/status.
std::string status_of(std::string_view name) {
    std::string status = content_of("/proc/self/status");
    for (std::string_view line : base::split(status, '\n')) {
        if (line.starts_with(name) && line.substr(name.size()).starts_with(':')) {
            return std::string(base::trim(line.substr(name.size() + 1)));
        }
    }
    return {};
}

Attempt status_is_not(std::string_view name, std::string_view good) {
    return [name, good](const World&) {
        std::string value = status_of(name);
        if (value == good) return held(base::format("{} is {}", name, value));
        return escaped(base::format("{} is {}", name, value));
    };
}

// ---- Set-user-ID bits: a program with one runs with the caller's rights for every user.

Finding judge_file(const std::string& path, long result) {
    int error = errno;
    struct stat status = {};
    bool has_bit = ::stat(path.c_str(), &status) == 0 && (status.st_mode & S_ISUID);
    ::unlink(path.c_str());
    if (has_bit) return escaped("the bit is set");
    return result < 0 ? held(error) : held("the bit was dropped");
}

Attempt set_bit(long (*act)(const std::string&)) {
    return [act](const World& world) {
        std::string path = world.project + "/program";
        base::Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0700));
        return judge_file(path, act(path));
    };
}

Finding create_with_bit(const World& world) {
    std::string path = world.project + "/program";
    base::Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kSetUserId));
    return judge_file(path, file.get());
}

Finding make_node_with_bit(const World& world) {
    std::string path = world.project + "/program";
    return judge_file(path, ::mknod(path.c_str(), S_IFREG | kSetUserId, 0));
}

void add_outside(Probes& probes) {
    auto add = [&](std::string_view name, std::string_view what, Attempt attempt,
                   std::string_view excuse = {}) {
        probes.push_back({.name = "processes/" + std::string(name),
                          .what = std::string(what),
                          .attempt = std::move(attempt),
                          .excuse = excuse});
    };
    add("see", "looks for a process outside in /proc",
        [](const World& world) { return see(entry_of(world.process, "stat")); });
    add("signal", "signals a process outside by its number", [](const World& world) {
        return outcome(::kill(static_cast<pid_t>(world.process), kHarmless), "it can be signalled");
    });
    add("signal-by-descriptor", "signals a process outside through a pidfd", signal_by_descriptor,
        "Linux before 5.3 has no pidfd");
    add(
        "trace", "traces a process outside",
        [](const World& world) { return trace(static_cast<pid_t>(world.process)); },
        "tracing is closed on this host");
    add("slow-down", "changes the priority of a process outside", [](const World& world) {
        auto process = static_cast<id_t>(world.process);
        errno = 0;
        int now = ::getpriority(PRIO_PROCESS, process);
        if (errno != 0) return held(errno);
        return outcome(::setpriority(PRIO_PROCESS, process, now), "its priority can be set");
    });
    add("limit", "changes the limits of a process outside", [](const World& world) {
        struct rlimit limit;
        return outcome(::prlimit(static_cast<pid_t>(world.process), RLIMIT_CORE, nullptr, &limit),
                       "they can be read");
    });
    probes.push_back({.name = "processes/signal-everyone",
                      .what = "signals every process that it can reach",
                      .attempt = signal_everyone,
                      .excuse = "it would reach every process of this user",
                      .afterwards = was_signalled});
}

void add_guardian(Probes& probes) {
    struct Row {
        std::string_view name;
        std::string_view what;
        Attempt attempt;
        std::string_view excuse = {};
    };
    const Row kRows[] = {
        {"trace", "traces", [](const World& world) { return trace(static_cast<pid_t>(world.guardian)); },
         "tracing is closed on this host"},
        {"memory", "reads the memory of", read_memory_by_call, "reading memory is closed on this host"},
        {"memory-file", "reads the memory, through /proc, of", read_memory_by_file,
         "reading memory is closed on this host"},
        {"maps", "reads the memory map of",
         [](const World& world) {
             bool is_read = !content_of(entry_of(world.guardian, "maps")).empty();
             return is_read ? escaped("it was read") : held(errno);
         }},
        {"descriptors", "lists the descriptors of",
         [](const World& world) { return see(entry_of(world.guardian, "fd/0")); }},
        {"descriptor", "takes a descriptor out of", take_descriptor,
         "taking descriptors is closed on this host"},
    };
    for (const Row& row : kRows) {
        probes.push_back({.name = "processes/guardian-" + std::string(row.name),
                          .what = std::string(row.what) + " pid 1 of the jail (outside: of another process)",
                          .attempt = row.attempt,
                          .excuse = row.excuse});
    }
}

void add_power(Probes& probes) {
    constexpr std::string_view kNoCapability = "0000000000000000";
    constexpr std::string_view kOrdinary = "an ordinary user has none outside either";
    struct Row {
        std::string_view name, what, line, good, excuse;
    };
    constexpr Row kRows[] = {
        {"gain-by-program", "could gain power through a set-user-ID program", "NoNewPrivs", "1",
         "already closed outside"},
        {"no-filter", "runs without a filter of system calls", "Seccomp", "2", "already filtered outside"},
        {"capability-limit", "has capabilities within its bounds", "CapBnd", kNoCapability, kOrdinary},
        {"capabilities", "has capabilities", "CapEff", kNoCapability, kOrdinary},
        {"capabilities-permitted", "may take capabilities", "CapPrm", kNoCapability, kOrdinary},
        {"capabilities-inherited", "hands capabilities on", "CapInh", kNoCapability, kOrdinary},
        {"capabilities-ambient", "keeps capabilities over an exec", "CapAmb", kNoCapability, kOrdinary},
    };
    for (const Row& row : kRows) {
        probes.push_back({.name = "processes/" + std::string(row.name),
                          .what = std::string(row.what),
                          .attempt = status_is_not(row.line, row.good),
                          .excuse = row.excuse});
    }
    struct BitRow {
        std::string_view name;
        Attempt attempt;
    };
    const BitRow kBits[] = {
        {"chmod", set_bit([](const std::string& path) -> long { return ::chmod(path.c_str(), kSetUserId); })},
        {"fchmod", set_bit([](const std::string& path) -> long {
             base::Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
             return ::fchmod(fd.get(), kSetUserId);
         })},
        {"open", create_with_bit},
        {"mknod", make_node_with_bit},
    };
    for (const BitRow& row : kBits) {
        probes.push_back({.name = "processes/set-user-id-" + std::string(row.name),
                          .what = "makes a set-user-ID program in the project with " + std::string(row.name),
                          .attempt = row.attempt,
                          .excuse = "this file system takes no such bit"});
    }
}

}  // namespace

void add_processes(Probes& probes) {
    add_outside(probes);
    add_guardian(probes);
    add_power(probes);
}

}  // namespace selftest
