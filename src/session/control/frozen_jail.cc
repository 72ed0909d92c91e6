// SPDX-License-Identifier: MIT
#include "session/control/frozen_jail.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <poll.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <optional>
#include <utility>
#include <vector>

#include "base/parse.h"
#include "base/text.h"

namespace session {
namespace {

constexpr int64_t kOverlay = 0x794c7630;  // OVERLAYFS_SUPER_MAGIC
constexpr int kPauseMs = 1;
constexpr int kStopMs = 200;  // for one round; a thread may wait for a child that is stopped (vfork)
constexpr std::chrono::seconds kFreezeWait{3};

std::string place_of(pid_t process) {
    return "/proc/" + std::to_string(process);
}

std::vector<pid_t> threads_of(pid_t process) {
    std::vector<pid_t> threads;
    base::Fd directory(::open((place_of(process) + "/task").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!directory) return threads;
    base::visit_entries(directory.get(), [&](const struct dirent64& entry) {
        if (std::optional<pid_t> number = base::parse_number<pid_t>(entry.d_name)) threads.push_back(*number);
        return true;
    });
    return threads;
}

std::vector<pid_t> children_of(pid_t process) {
    std::vector<pid_t> all;
    for (pid_t thread : threads_of(process)) {
        base::Result<std::string> text =
            base::read_file(base::format("{}/task/{}/children", place_of(process), thread));
        if (!text) continue;
        for (std::string_view word : base::split(base::trim(*text), ' ')) {
            if (std::optional<pid_t> number = base::parse_number<pid_t>(word)) all.push_back(*number);
        }
    }
    return all;
}

// The numbers of a process in the pid namespaces that it is in, the outermost first.
std::vector<pid_t> numbers_of(pid_t process) {
    std::vector<pid_t> numbers;
    base::Result<std::string> text = base::read_file(place_of(process) + "/status");
    if (!text) return numbers;
    constexpr std::string_view kField = "NSpid:";
    for (std::string_view line : base::split(*text, '\n')) {
        if (!line.starts_with(kField)) continue;
        for (std::string_view word : base::split(line.substr(kField.size()), '\t')) {
            if (std::optional<pid_t> number = base::parse_number<pid_t>(word)) numbers.push_back(*number);
        }
    }
    return numbers;
}

// Fields of /proc/PID/stat, from the third one (the state) on: the second may contain anything.
std::vector<std::string_view> fields_of(std::string_view stat) {
    const size_t end = stat.rfind(')');
    if (end == std::string_view::npos || end + 2 > stat.size()) return {};
    return base::split(base::trim(stat.substr(end + 2)), ' ');
}

struct Members {
    pid_t first = 0;               // of the jail; ours
    std::vector<pid_t> processes;  // the others
};

// Every process of a jail descends from its first one, which is 1 in the jail's pid namespace.
Members members_of(pid_t supervisor) {
    Members members;
    const size_t depth = numbers_of(supervisor).size();
    std::vector<pid_t> all = children_of(supervisor);
    for (size_t i = 0; i < all.size(); ++i) {
        const std::vector<pid_t> numbers = numbers_of(all[i]);
        if (numbers.size() > depth) {
            if (members.first == 0 && numbers[depth] == 1) {
                members.first = all[i];
            } else {
                members.processes.push_back(all[i]);
            }
        }
        for (pid_t child : children_of(all[i])) all.push_back(child);
    }
    return members;
}

bool has_ended(pid_t process, pid_t thread) {
    base::Result<std::string> stat =
        base::read_file(base::format("{}/task/{}/stat", place_of(process), thread));
    if (!stat) return true;
    const std::vector<std::string_view> fields = fields_of(*stat);
    return fields.empty() || fields[0] == "Z" || fields[0] == "X";
}

// What changes whenever a thread runs: the state of a traced one, and how often it was scheduled. Empty: it
// has ended.
std::string activity_of(pid_t thread) {
    base::Result<std::string> status = base::read_file(place_of(thread) + "/status");
    std::string text;
    if (!status) return text;
    for (std::string_view line : base::split(*status, '\n')) {
        bool is_counter = line.starts_with("State:") || line.find("ctxt_switches:") != std::string_view::npos;
        if (is_counter) text.append(line) += ' ';
    }
    return text;
}

// Page faults and time of children that have ended: they grow with each one.
std::string reaped_by(pid_t process) {
    constexpr size_t kFaults = 8, kMajorFaults = 10, kUserTime = 13, kSystemTime = 14;
    base::Result<std::string> stat = base::read_file(place_of(process) + "/stat");
    const std::vector<std::string_view> fields = stat ? fields_of(*stat) : std::vector<std::string_view>();
    std::string text;
    for (size_t field : {kFaults, kMajorFaults, kUserTime, kSystemTime}) {
        if (fields.size() > field) text.append(fields[field]) += ' ';
    }
    return text;
}

}  // namespace

FrozenJail::FrozenJail(FrozenJail&& other) noexcept
    : supervisor_(other.supervisor_),
      threads_(std::exchange(other.threads_, {})),
      reaped_(std::move(other.reaped_)),
      obstacle_(other.obstacle_),
      since_(other.since_) {}

// Only a stopped thread can be let go. One that waits for a stopped child (vfork) stops when that child runs
// again; the kernel lets go what is left when this process ends.
void FrozenJail::thaw() {
    const Clock::time_point end = Clock::now() + std::chrono::milliseconds(kStopMs);
    while (!threads_.empty()) {
        std::erase_if(threads_, [](const auto& entry) {
            const auto& [thread, state] = entry;
            if (!state.is_stopped && !state.is_dead) look_at(thread, state);
            if (state.is_stopped) {
                // The kernel takes the signal as a pointer.
                void* signal =
                    reinterpret_cast<void*>(intptr_t{state.signal});  // NOLINT(performance-no-int-to-ptr)
                (void)::ptrace(PTRACE_DETACH, thread, nullptr, signal);
            }
            return state.is_stopped || state.is_dead;
        });
        if (threads_.empty() || Clock::now() >= end) return;
        ::poll(nullptr, 0, kPauseMs);
    }
}

void FrozenJail::look_at(pid_t thread, const Thread& state) {
    int status = 0;
    const pid_t got = ::waitpid(thread, &status, __WALL | WNOHANG);
    if (got == thread && WIFSTOPPED(status)) {
        state.is_stopped = true;
        // The trap of PTRACE_INTERRUPT has an event; without one this is a signal on its way.
        if (status >> 16 == 0) state.signal = WSTOPSIG(status);
    } else if (got == thread || (got < 0 && errno != EINTR)) {
        state.is_dead = true;
    }
}

// False: a thread could not be traced.
bool FrozenJail::seize_new(bool& found) {
    found = false;
    obstacle_ = 0;
    for (pid_t process : members_of(supervisor_).processes) {
        for (pid_t thread : threads_of(process)) {
            auto known = threads_.find(thread);
            if (known != threads_.end() && !known->second.is_dead) continue;
            if (has_ended(process, thread)) continue;
            if (::ptrace(PTRACE_SEIZE, thread, nullptr, nullptr) != 0) {
                if (errno != ESRCH && !has_ended(process, thread)) obstacle_ = thread;
                continue;
            }
            found = true;
            threads_[thread] = {};
            (void)::ptrace(PTRACE_INTERRUPT, thread, nullptr, nullptr);
        }
    }
    return obstacle_ == 0;
}

// False: a thread did not stop in time.
bool FrozenJail::await_stops() const {
    const Clock::time_point end = Clock::now() + std::chrono::milliseconds(kStopMs);
    while (true) {
        bool is_complete = true;
        for (const auto& [thread, state] : threads_) {
            if (state.is_stopped || state.is_dead) continue;
            look_at(thread, state);
            is_complete = is_complete && (state.is_stopped || state.is_dead);
        }
        if (is_complete) return true;
        if (Clock::now() >= end) return false;
        ::poll(nullptr, 0, kPauseMs);
    }
}

bool FrozenJail::stop_all(Clock::time_point end) {
    since_ = Clock::now();
    for (bool found = true; found;) {
        if (Clock::now() >= end) return false;
        if (!seize_new(found)) return false;
        if (!await_stops()) return false;
    }
    for (const auto& [thread, state] : threads_) state.activity = activity_of(thread);
    return true;
}

base::Result<FrozenJail> FrozenJail::freeze(pid_t supervisor) {
    FrozenJail jail(supervisor);
    const Members members = members_of(supervisor);
    if (members.first == 0 || members.processes.empty())
        return base::Error{.what = "the processes of the session can't be found in /proc",
                           .advice = "end the session with 'agent-sandbox stop' first",
                           .exit_code = base::ExitCode::check_failed,
                           .may_pass = true};
    const Clock::time_point end = Clock::now() + kFreezeWait;
    while (true) {
        jail.reaped_ = reaped_by(members.first);
        if (jail.stop_all(end)) return jail;
        const pid_t obstacle = jail.obstacle_;
        jail.thaw();
        // A process that our own first process is about to start can't be traced yet.
        if (Clock::now() < end) {
            ::poll(nullptr, 0, kPauseMs);
            continue;
        }
        const std::string which =
            obstacle > 0
                ? base::format("process {} can't be stopped, because it is traced or privileged", obstacle)
                : "some processes did not stop in time";
        return base::Error{.what = "the session can't be frozen: " + which,
                           .advice = "try again, or end the session with 'agent-sandbox stop' first",
                           .exit_code = base::ExitCode::check_failed};
    }
}

bool FrozenJail::is_whole() const {
    const Members members = members_of(supervisor_);
    for (pid_t process : members.processes) {
        for (pid_t thread : threads_of(process)) {
            auto known = threads_.find(thread);
            bool is_frozen = known != threads_.end() && known->second.is_stopped;
            if (!is_frozen && !has_ended(process, thread)) return false;
            if (is_frozen && known->second.activity != activity_of(thread)) return false;
        }
    }
    return members.first != 0 && !threads_.empty() && reaped_ == reaped_by(members.first);
}

namespace {

// The root of a mount of the overlay, or of this clone.
bool is_layer(int opened, int clone) {
    struct statfs system;
    struct statx mount;
    struct stat here, there;
    bool is_root = ::statx(opened, "", AT_EMPTY_PATH, STATX_BASIC_STATS, &mount) == 0 &&
                   (mount.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0;
    if (!is_root) return false;
    if (clone < 0) return ::fstatfs(opened, &system) == 0 && system.f_type == kOverlay;
    return ::fstat(opened, &here) == 0 && ::fstat(clone, &there) == 0 && here.st_dev == there.st_dev &&
           here.st_ino == there.st_ino;
}

}  // namespace

base::Result<base::Fd> FrozenJail::open_project(const Wanted& wanted) const {
    for (const auto& [thread, state] : threads_) {
        if (!state.is_stopped) continue;
        struct stat status;
        bool is_in_jail = ::stat((place_of(thread) + "/ns/mnt").c_str(), &status) == 0 &&
                          wanted.mounts != 0 && status.st_ino == wanted.mounts;
        if (!is_in_jail) continue;
        base::Fd root(::open((place_of(thread) + "/root").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
        struct open_how how = {};
        how.flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
        how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
        base::Fd layer(static_cast<int>(
            ::syscall(SYS_openat2, root.get(), wanted.path.str().substr(1).c_str(), &how, sizeof how)));
        if (layer && is_layer(layer.get(), wanted.clone)) return layer;
    }
    return base::Error{.what =
                           "the files of the session can't be reached: no process of it has the jail's "
                           "own view of the project",
                       .advice = "end the session with 'agent-sandbox stop' first",
                       .exit_code = base::ExitCode::check_failed};
}

}  // namespace session
