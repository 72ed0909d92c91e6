// SPDX-License-Identifier: MIT
// The mount table that the kernel shows to the jail. Numbers that differ between any two jails are replaced
// by the thing that they identify. Also: what can be written where.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <map>

#include "base/text.h"
#include "differential/report.h"

namespace differential {
namespace {

struct Row {
    std::string id, parent, device, root, target, options, optional, type, source, super;
};

// \040 and other octal escapes.
std::string unescaped(std::string_view text) {
    std::string result;
    for (size_t i = 0; i < text.size(); ++i) {
        bool is_escape = text[i] == '\\' && i + 3 < text.size();
        if (!is_escape) {
            result += text[i];
            continue;
        }
        result += static_cast<char>(std::strtol(std::string(text.substr(i + 1, 3)).c_str(), nullptr, 8));
        i += 3;
    }
    return result;
}

std::vector<Row> read_table() {
    int number = 0;
    std::vector<Row> rows;
    std::string text = content_of("/proc/self/mountinfo", number, 8u << 20);
    for (std::string_view line : base::split(text, '\n')) {
        std::vector<std::string_view> words = base::split(line, ' ');
        auto dash = std::ranges::find(words, "-");
        if (words.size() < 10 || words.end() - dash < 4) continue;
        Row row{.id = std::string(words[0]),
                .parent = std::string(words[1]),
                .device = std::string(words[2]),
                .root = unescaped(words[3]),
                .target = unescaped(words[4]),
                .options = std::string(words[5]),
                .type = std::string(dash[1]),
                .source = unescaped(dash[2]),
                .super = std::string(dash[3])};
        for (auto word = words.begin() + 6; word != dash; ++word)
            row.optional += (row.optional.empty() ? "" : " ") + std::string(word->substr(0, word->find(':')));
        rows.push_back(std::move(row));
    }
    std::ranges::stable_sort(rows, {}, &Row::target);
    return rows;
}

std::string flags_of(const std::string& path) {
    struct statvfs system;
    if (::statvfs(path.c_str(), &system) != 0) return name_of_errno(errno);
    std::string text = "flags " + std::to_string(system.f_flag);
    // The size of an in-memory file system is a limit that the backend sets, so it is compared.
    struct stat status;
    bool is_memory = ::stat(path.c_str(), &status) == 0 && major(status.st_dev) == 0;
    if (is_memory) text += " blocks " + std::to_string(system.f_blocks);
    return text;
}

int remove_probe(int result, const std::string& path, int flags) {
    if (result < 0) return errno;
    ::unlinkat(AT_FDCWD, path.c_str(), flags);
    return 0;
}

// Everything that this function creates is removed again.
void try_directory(Report& report, const std::string& path) {
    std::string probe = (path == "/" ? "" : path) + "/.walker-probe";
    int fd = ::open(probe.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
    report.verdict("makes-file", path, remove_probe(fd, probe, 0));
    if (fd >= 0) ::close(fd);
    report.verdict("makes-directory", path, remove_probe(::mkdir(probe.c_str(), 0700), probe, AT_REMOVEDIR));
    report.verdict("makes-link", path, remove_probe(::symlink("/", probe.c_str()), probe, 0));
    report.verdict("makes-pipe", path, remove_probe(::mkfifo(probe.c_str(), 0600), probe, 0));
    report.verdict("makes-device", path,
                   remove_probe(::mknod(probe.c_str(), S_IFCHR | 0600, makedev(1, 3)), probe, 0));
}

void try_file(Report& report, const std::string& path) {
    for (int flags : {O_RDONLY, O_WRONLY | O_APPEND, O_RDWR}) {
        int fd = ::open(path.c_str(), flags | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
        report.verdict("opens-" + std::to_string(flags & O_ACCMODE), path, fd < 0 ? errno : 0);
        if (fd >= 0) ::close(fd);
    }
    report.verdict("executes", path, ::access(path.c_str(), X_OK) == 0 ? 0 : errno);
}

// A mount point must not be movable or removable.
void try_to_take_away(Report& report, const std::string& path) {
    struct stat status;
    if (path == "/" || ::lstat(path.c_str(), &status) != 0) return;
    std::string aside = path + ".walker-aside";
    int moved = ::rename(path.c_str(), aside.c_str());
    report.verdict("moves", path, moved == 0 ? 0 : errno);
    if (moved == 0) ::rename(aside.c_str(), path.c_str());
    // Try to remove it only if the move failed. If the move succeeded, the line above reports the missing
    // protection, and nothing is destroyed.
    if (moved == 0) return;
    int removed = ::unlinkat(AT_FDCWD, path.c_str(), S_ISDIR(status.st_mode) ? AT_REMOVEDIR : 0);
    report.verdict("removes", path, removed == 0 ? 0 : errno);
    report.verdict("changes-mode", path, ::chmod(path.c_str(), status.st_mode & 07777u) == 0 ? 0 : errno);
}

void try_all(Report& report, const std::string& path) {
    struct stat status;
    if (::lstat(path.c_str(), &status) != 0) return report.verdict("place", path, errno);
    if (S_ISDIR(status.st_mode)) {
        try_directory(report, path);
    } else {
        try_file(report, path);
    }
}

}  // namespace

void tell_mounts(Report& report) {
    std::vector<Row> rows = read_table();
    std::map<std::string, std::string> target_of, first_of_device;
    for (const Row& row : rows) {
        target_of[row.id] = row.target;
        first_of_device.try_emplace(row.device, row.target);
    }
    std::map<std::string, int> stacked;
    for (const Row& row : rows) {
        const std::string level = std::to_string(++stacked[row.target]);
        const std::string name = row.target + " (" + level + ")";
        auto parent = target_of.find(row.parent);
        report.say("mount", name,
                   row.type + " root " + (row.type == "devpts" && row.root != "/" ? "<terminal>" : row.root) +
                       " options " + row.options + " on " +
                       (parent == target_of.end() ? "nothing" : parent->second) + " from " + row.source +
                       " super " + row.super);
        report.say("same-file-system", name, first_of_device[row.device]);
        report.say("propagation", name, row.optional.empty() ? "private" : row.optional);
        report.say("flags", name, flags_of(row.target));
    }
}

void tell_writing(Report& report, const WalkerArguments& arguments) {
    for (const char* path :
         {"/", "/etc", "/usr", "/usr/bin", "/dev", "/dev/pts", "/dev/shm", "/proc", "/proc/self", "/run",
          "/run/agent-sandbox", "/tmp", "/var", "/var/tmp", "/home", "/sys"})
        try_all(report, path);
    for (const char* path :
         {"/etc/passwd", "/dev/null", "/dev/tty", "/dev/console", "/dev/ptmx", "/dev/kmsg",
          "/proc/sys/kernel/hostname", "/proc/sys/kernel/core_pattern", "/proc/sysrq-trigger",
          "/proc/sys/net/ipv4/ip_forward", "/proc/sys/user/max_user_namespaces", "/proc/self/oom_score_adj",
          "/proc/self/mem", "/proc/kcore", "/proc/kmsg"})
        try_all(report, path);
    for (const std::string& path : arguments.deep) try_all(report, path);
    std::string last;
    for (const Row& row : read_table()) {
        if (row.target == last) continue;
        last = row.target;
        try_all(report, row.target);
        try_to_take_away(report, row.target);
    }
}

}  // namespace differential
