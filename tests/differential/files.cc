// SPDX-License-Identifier: MIT
// Every visible path. Of large trees that the host shares read-only, only the upper levels.
#include <dirent.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <span>

#include "base/encoding/sha256.h"
#include "differential/report.h"

namespace differential {
namespace {

constexpr size_t kHashedSize = 64u << 10;
constexpr size_t kMostEntries = 30'000;
constexpr long kQueues = 0x19800202;  // the magic number of mqueue, which no header defines
constexpr unsigned kTerminals = 136;  // the kernel allocates devices of this major number on demand
constexpr long kKernelFiles[] = {PROC_SUPER_MAGIC, SYSFS_MAGIC, kQueues};

// How many levels below the path are walked.
struct Depth {
    std::string_view path;
    int levels;
};
constexpr Depth kDepths[] = {{"/usr", 2}, {"/opt", 0}, {"/proc", 1}, {"/sys", 3}, {"/nix", 1}, {"/snap", 1}};

bool is_any_of(std::span<const long> numbers, long number) {
    return std::ranges::find(numbers, number) != numbers.end();
}

const char* kind_of(mode_t mode) {
    switch (mode & S_IFMT) {
        case S_IFREG:
            return "file";
        case S_IFDIR:
            return "directory";
        case S_IFLNK:
            return "link";
        case S_IFCHR:
            return "characters";
        case S_IFBLK:
            return "blocks";
        case S_IFIFO:
            return "pipe";
        case S_IFSOCK:
            return "socket";
        default:
            return "other";
    }
}

std::string octal(mode_t mode) {
    char text[8];
    (void)::snprintf(text, sizeof text, "%04o", mode & 07777u);
    return text;
}

class Walk {
  public:
    explicit Walk(Report& report, const WalkerArguments& arguments)
        : report_(report), arguments_(arguments) {}

    void enter(const std::string& path, int levels) {
        DIR* directory = ::opendir(path.c_str());
        if (directory == nullptr) return report_.verdict("listing", path, errno);
        std::vector<std::string> names;
        while (const struct dirent* entry = ::readdir(directory)) names.emplace_back(entry->d_name);
        ::closedir(directory);
        for (const std::string& name : names) {
            if (name == "." || name == ".." || (path == "/proc" && is_number(name))) continue;
            look_at((path == "/" ? "" : path) + "/" + name, levels);
        }
    }

  private:
    static bool is_number(const std::string& name) {
        return name.find_first_not_of("0123456789") == std::string::npos;
    }

    int levels_of(const std::string& path, int levels) const {
        if (std::ranges::find(arguments_.shallow, path) != arguments_.shallow.end()) return 0;
        for (const std::string& deep : arguments_.deep) {
            if (path == deep) return INT_MAX;
            // The path leads to a deep directory, so enter it. Its other entries are walked only as far as
            // `levels` allows.
            if (deep.starts_with(path + "/")) return std::max(levels, 1);
        }
        for (const Depth& depth : kDepths) {
            if (path == depth.path) return depth.levels;
        }
        return levels;
    }

    void look_at(const std::string& path, int levels) {
        if (++entries_ > kMostEntries) return;
        struct stat status;
        if (::lstat(path.c_str(), &status) != 0) return report_.verdict("path", path, errno);
        levels = levels_of(path, levels);
        struct statfs system = {};
        if (!S_ISLNK(status.st_mode)) (void)::statfs(path.c_str(), &system);
        report_.say("path", path, describe(path, status, system.f_type, levels != INT_MAX));
        if (S_ISDIR(status.st_mode) && levels > 0) enter(path, levels == INT_MAX ? levels : levels - 1);
    }

    static std::string describe(const std::string& path, const struct stat& status, long system,
                                bool is_shared) {
        std::string text = kind_of(status.st_mode);
        text += " " + octal(status.st_mode) + " " + std::to_string(status.st_uid) + ":" +
                std::to_string(status.st_gid);
        if (S_ISCHR(status.st_mode) || S_ISBLK(status.st_mode))
            text += " device " + std::to_string(major(status.st_rdev)) + ":" +
                    (major(status.st_rdev) == kTerminals ? "<n>" : std::to_string(minor(status.st_rdev)));
        if (S_ISLNK(status.st_mode)) return text + " to " + link_text(path);
        if (is_any_of(kKernelFiles, system)) return text + readability(path, status);
        // In a shared tree the inode identifies the host's object, and so its content and more. Elsewhere
        // each launch creates new files, so their content is compared.
        if (!is_shared || system == TMPFS_MAGIC) return text + content(path, status);
        return text + " inode " + std::to_string(status.st_ino);
    }

    static std::string link_text(const std::string& path) {
        char text[PATH_MAX];
        ssize_t length = ::readlink(path.c_str(), text, sizeof text);
        if (length < 0) return name_of_errno(errno);
        std::string result(text, static_cast<size_t>(length));
        return path.starts_with("/proc/") ? "" : result;  // self, thread-self
    }

    // For files of the kernel, report only whether they are readable, because their content changes by
    // itself.
    static std::string readability(const std::string& path, const struct stat& status) {
        if (!S_ISREG(status.st_mode)) return {};
        if (path.starts_with("/sys/")) return ::access(path.c_str(), R_OK) == 0 ? " readable" : "";
        int number = 0;
        (void)content_of(path, number, 1);
        return " read " + name_of_errno(number);
    }

    static std::string content(const std::string& path, const struct stat& status) {
        if (!S_ISREG(status.st_mode)) return {};
        int number = 0;
        std::string content = content_of(path, number, kHashedSize);
        // Remove what identifies this run; the size is computed afterwards.
        content = without_session(content);
        return " size " + std::to_string(content.size()) + " links " + std::to_string(status.st_nlink) +
               " read " + name_of_errno(number) + " hash " + base::sha256(content).substr(0, 16);
    }

    Report& report_;
    const WalkerArguments& arguments_;
    size_t entries_ = 0;
};

}  // namespace

void tell_files(Report& report, const WalkerArguments& arguments) {
    Walk(report, arguments).enter("/", INT_MAX);
}

}  // namespace differential
