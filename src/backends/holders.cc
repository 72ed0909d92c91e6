// SPDX-License-Identifier: MIT
// Theory of operation. A descriptor that was opened through the uncovered name belongs to the mount below the
// cover; one that was opened through the cover belongs to the cover. fdinfo names the mount of each
// descriptor. So a process that reads .git/config through the cover is left alone.
//
// A descriptor for reading counts too: /proc/self/fd opens it again for writing, through the mount below the
// cover.
//
// A descriptor can hide in four places besides the table of a process: in the table of a single thread
// (unshare(CLONE_FILES)), in a mapping, in a working directory, and in the queue of a Unix socket. fdinfo of
// a socket counts the descriptors that wait in it (scm_fds, Linux 5.10). A program that passes descriptors
// normally takes them out at once, so they count only if some wait in several rounds in a row.
//
// A process that can't be examined (its program is not readable for this user) is killed too. The exception
// is our own process that is about to execute the command: while it is the only one beside the stage, nothing
// of the command has run.
//
// Threat: a process that keeps .git/config open writes it after the cover is back (tests/jail/holders.bats).
#include "backends/holders.h"

#include <fcntl.h>
#include <linux/stat.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <optional>
#include <utility>

#include "base/file.h"
#include "base/parse.h"
#include "base/text.h"

namespace backends {
namespace {

// A descriptor that two processes pass on all the time may be in one while the other is examined: a single
// round that finds nothing proves nothing.
constexpr int kCleanRounds = 3;
constexpr int kMostRounds = 24;
constexpr int kRoundsOfDoubt = 4;  // that descriptors may wait in sockets, or processes be unreadable
constexpr struct timespec kPause = {0, 3'000'000};
constexpr pid_t kStage = 1;  // our own process

base::Fd open_at(int directory, const std::string& name, int flags) {
    return base::Fd(::openat(directory, name.c_str(), flags | O_CLOEXEC));
}

std::string read_at(int directory, const std::string& name) {
    base::Fd file = open_at(directory, name, O_RDONLY);
    if (!file) return {};
    base::Result<std::string> text = base::read_descriptor(file.get());
    return text ? *std::move(text) : std::string();
}

std::string link_at(int directory, const std::string& name) {
    char text[4096];
    ssize_t length = ::readlinkat(directory, name.c_str(), text, sizeof text);
    return length > 0 ? std::string(text, static_cast<size_t>(length)) : std::string();
}

// "mnt_id:\t42" and the like.
std::optional<uint64_t> field(std::string_view text, std::string_view name) {
    for (std::string_view line : base::split(text, '\n')) {
        if (line.starts_with(name))
            return base::leading_number<uint64_t>(base::trim(line.substr(name.size())));
    }
    return std::nullopt;
}

bool is_below(std::string_view path, std::string_view directory) {
    return path.starts_with(directory) && (path.size() == directory.size() || path[directory.size()] == '/');
}

class Search {
  public:
    explicit Search(const std::vector<BareObject>& objects)
        : objects_(objects), proc_(open_at(AT_FDCWD, "/proc", O_RDONLY | O_DIRECTORY)) {}

    Holders run() {
        Holders found;
        found.is_certain = false;
        int clean_rounds = 0;
        for (; rounds_ < kMostRounds; ++rounds_) {
            if (rounds_ > 0) ::nanosleep(&kPause, nullptr);
            bool is_clean = look(found.killed) && !is_in_doubt_;
            clean_rounds = is_clean ? clean_rounds + 1 : 0;
            if (clean_rounds < kCleanRounds) continue;
            found.is_certain = !has_failed_;
            return found;
        }
        return found;
    }

  private:
    // One pass over all processes. True: no process held an object.
    bool look(std::vector<Holder>& killed) {
        bool is_clean = true;
        has_failed_ = !proc_;
        rounds_in_doubt_ = std::exchange(is_in_doubt_, false) ? rounds_in_doubt_ + 1 : 0;
        std::vector<pid_t> processes;
        if (proc_) ::lseek(proc_.get(), 0, SEEK_SET);
        base::visit_entries(proc_.get(), [&](const struct dirent64& entry) {
            std::optional<uint64_t> process = base::leading_number<uint64_t>(entry.d_name);
            if (process && *process != kStage) processes.push_back(static_cast<pid_t>(*process));
            return true;
        });
        is_only_one_ = processes.size() == 1;
        for (pid_t process : processes) is_clean = look_at(process, killed) && is_clean;
        return is_clean;
    }

    bool look_at(pid_t process, std::vector<Holder>& killed) {
        base::Fd place = open_at(proc_.get(), std::to_string(process), O_RDONLY | O_DIRECTORY);
        if (!place) return true;  // it has ended
        std::optional<size_t> finding;
        bool has_seen_maps = false;
        is_starting_ = is_only_one_ && is_starting(place.get());
        base::Fd tasks = open_at(place.get(), "task", O_RDONLY | O_DIRECTORY);
        base::visit_entries(tasks.get(), [&](const struct dirent64& task) {
            base::Fd thread = open_at(tasks.get(), task.d_name, O_RDONLY | O_DIRECTORY);
            if (!thread) return true;
            // Threads share their memory, but a thread that has ended shows none.
            if (!has_seen_maps) finding = finding_in_maps(thread.get(), has_seen_maps);
            if (!finding) finding = finding_in_thread(thread.get());
            return !finding;
        });
        if (!finding) return true;
        std::string name(base::trim(read_at(place.get(), "comm")));
        // Signal it through the open directory: the pid may belong to another process by now.
        bool is_killed = ::syscall(SYS_pidfd_send_signal, place.get(), SIGKILL, nullptr, 0) == 0;
        if (!is_killed && errno != ESRCH) has_failed_ = true;
        auto is_known = [&](const Holder& one) { return one.process == process && one.index == *finding; };
        if (std::ranges::none_of(killed, is_known)) killed.push_back({*finding, process, std::move(name)});
        return false;
    }

    // Something that can't be examined: descriptors that wait in a socket, or a process that is not readable.
    // It becomes a finding after several rounds in a row with a doubt, whichever process was in doubt: an
    // attacker can move a descriptor from socket to socket.
    std::optional<size_t> in_doubt() {
        is_in_doubt_ = true;
        return rounds_in_doubt_ >= kRoundsOfDoubt ? std::optional(objects_.front().index) : std::nullopt;
    }

    std::optional<size_t> finding_in_thread(int thread) {
        for (const char* link : {"cwd", "root", "exe"}) {
            if (std::optional<size_t> found = finding_in_link(thread, link)) return found;
        }
        base::Fd descriptors = open_at(thread, "fd", O_RDONLY | O_DIRECTORY);
        if (!descriptors) {
            has_failed_ = has_failed_ || base::is_shortage(errno);
            bool is_closed = errno == EACCES && !has_ended(thread) && !is_starting_;
            return is_closed ? in_doubt() : std::nullopt;
        }
        std::optional<size_t> found;
        base::visit_entries(descriptors.get(), [&](const struct dirent64& entry) {
            found = finding_in_descriptor(thread, descriptors.get(), entry.d_name);
            return !found;
        });
        return found;
    }

    // The fields of /proc/PID/stat from the state on; nothing where the thread has ended.
    static std::vector<std::string> state_fields(int thread) {
        std::string status = read_at(thread, "stat");
        size_t name_end = status.rfind(')');
        if (name_end == std::string::npos || name_end + 2 >= status.size()) return {};
        std::vector<std::string> fields;
        for (std::string_view field : base::split(std::string_view(status).substr(name_end + 2), ' '))
            fields.emplace_back(field);
        return fields;
    }

    static uint64_t flags_of(const std::vector<std::string>& fields) {
        constexpr size_t kFlags = 6;
        return fields.size() > kFlags ? base::leading_number<uint64_t>(fields[kFlags]).value_or(0) : 0;
    }

    // A thread that exits can't use its descriptors any more; its /proc files belong to root from then on.
    static bool has_ended(int thread) {
        constexpr uint64_t kExiting = 0x4;  // PF_EXITING of the kernel
        std::vector<std::string> fields = state_fields(thread);
        return fields.empty() || fields[0] == "Z" || fields[0] == "X" || (flags_of(fields) & kExiting) != 0;
    }

    // The stage has forked this process, which has one thread and has not executed a program yet. Each new
    // thread of a program has the same flag, so only the process itself counts, and only while it is alive.
    static bool is_starting(int process) {
        constexpr size_t kParent = 1, kThreads = 17;
        constexpr uint64_t kForkedWithoutExec = 0x40;  // PF_FORKNOEXEC of the kernel
        if (has_ended(process)) return false;
        std::vector<std::string> fields = state_fields(process);
        auto value = [&](size_t index) { return base::leading_number<uint64_t>(fields[index]).value_or(0); };
        return fields.size() > kThreads && value(kParent) == kStage && value(kThreads) == 1 &&
               (flags_of(fields) & kForkedWithoutExec) != 0;
    }

    std::optional<size_t> finding_in_descriptor(int thread, int descriptors, const std::string& name) {
        struct stat status;
        if (::fstatat(descriptors, name.c_str(), &status, 0) != 0) return std::nullopt;
        if (S_ISSOCK(status.st_mode)) {
            // A file in a queue has no name: any file that stays there may be the object.
            uint64_t count = field(read_at(thread, "fdinfo/" + name), "scm_fds:").value_or(0);
            return count > 0 ? in_doubt() : std::nullopt;
        }
        for (const BareObject& object : objects_) {
            if (!is_object(object, status, descriptors, name)) continue;
            if (field(read_at(thread, "fdinfo/" + name), "mnt_id:") == object.mount) return object.index;
        }
        return std::nullopt;
    }

    // The file may have been replaced more than once: then an older one was open under the same name.
    static bool is_object(const BareObject& object, const struct stat& status, int descriptors,
                          const std::string& name) {
        if (object.is_directory) return is_below(link_at(descriptors, name), object.inside.str());
        if (status.st_dev == object.device && status.st_ino == object.inode) return true;
        return S_ISREG(status.st_mode) && status.st_nlink == 0 &&
               link_at(descriptors, name) == object.inside.str() + " (deleted)";
    }

    std::optional<size_t> finding_in_link(int thread, const std::string& name) const {
        struct statx status = {};
        if (::statx(thread, name.c_str(), 0, STATX_INO | STATX_MNT_ID, &status) != 0) return std::nullopt;
        for (const BareObject& object : objects_) {
            if (status.stx_mnt_id != object.mount) continue;
            bool is_file = status.stx_ino == object.inode &&
                           makedev(status.stx_dev_major, status.stx_dev_minor) == object.device;
            bool is_it = object.is_directory ? is_below(link_at(thread, name), object.inside.str()) : is_file;
            if (is_it) return object.index;
        }
        return std::nullopt;
    }

    // "START-END rw-s OFFSET MAJOR:MINOR INODE    PATH". A mapping does not name its mount. A shared mapping
    // of a protected file may become writable later; a private one changes nothing.
    std::optional<size_t> finding_in_maps(int thread, bool& has_seen_maps) const {
        std::string maps = read_at(thread, "maps");
        has_seen_maps = !maps.empty();
        for (std::string_view line : base::split(maps, '\n')) {
            size_t slash = line.find('/');
            if (slash == std::string_view::npos) continue;
            std::string_view path = line.substr(slash);
            for (const BareObject& object : objects_) {
                bool is_it = path.starts_with(object.inside.str()) && is_mapped(object, path);
                if (!is_it) continue;
                size_t flags = line.find(' ') + 1;
                bool is_shared = line.substr(flags, 4).ends_with('s');
                if (is_shared || object.is_secret) return object.index;
            }
        }
        return std::nullopt;
    }

    static bool is_mapped(const BareObject& object, std::string_view path) {
        std::string_view rest = path.substr(object.inside.str().size());
        return rest.empty() || rest == " (deleted)" || (object.is_directory && rest.starts_with('/'));
    }

    const std::vector<BareObject>& objects_;
    base::Fd proc_;
    bool is_in_doubt_ = false;  // in this round
    int rounds_in_doubt_ = 0;   // in a row, before this one
    int rounds_ = 0;
    bool is_only_one_ = false;  // in this round: one process beside the stage
    bool is_starting_ = false;  // the process that is looked at: is_starting()
    bool has_failed_ = false;
};

}  // namespace

Holders kill_holders(const std::vector<BareObject>& objects) {
    if (objects.empty()) return {};
    return Search(objects).run();
}

}  // namespace backends
