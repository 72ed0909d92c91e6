// SPDX-License-Identifier: MIT
#include "base/no_links.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <vector>

#include "base/file.h"
#include "base/text.h"

namespace base {
namespace {

// Before Linux 5.6, which adds openat2: open one component after the other.
int open_stepwise(const Path& path, int flags) {
    Fd directory(::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!directory) return -errno;
    std::vector<std::string_view> components = path.components();
    for (size_t i = 0; i < components.size(); ++i) {
        bool is_last = i + 1 == components.size();
        int step_flags = is_last ? flags : O_PATH | O_NOFOLLOW | O_CLOEXEC;
        Fd next(::openat(directory.get(), std::string(components[i]).c_str(), step_flags));
        if (!next) return -errno;
        // O_PATH opens the link itself instead of refusing it.
        struct stat status;
        if (::fstat(next.get(), &status) != 0) return -errno;
        if (S_ISLNK(status.st_mode)) return -ELOOP;
        directory = std::move(next);
    }
    return directory.release();
}

}  // namespace

int open_without_links(const Path& path, int flags) {
    flags |= O_CLOEXEC | O_NOFOLLOW;
    struct open_how how = {};
    // With O_PATH, O_NOFOLLOW would open a link at the end instead of refusing it.
    how.flags = static_cast<uint64_t>(flags & ~O_NOFOLLOW);
    how.resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
    long fd = ::syscall(SYS_openat2, AT_FDCWD, path.c_str(), &how, sizeof how);
    if (fd >= 0) return static_cast<int>(fd);
    // Old container filters return EPERM for unknown calls.
    if (errno != ENOSYS && errno != EPERM) return -errno;
    return open_stepwise(path, flags);
}

Status make_directories_without_links(const Path& path, unsigned mode) {
    int opened = open_without_links(path, O_PATH | O_DIRECTORY);
    if (opened >= 0) {
        ::close(opened);
        return success();
    }
    if (opened != -ENOENT || path.is_root()) return system_error("use the directory " + path.str(), -opened);
    if (Status made = make_directories_without_links(path.parent(), mode); !made) return made;
    Fd parent(open_without_links(path.parent(), O_PATH | O_DIRECTORY));
    if (!parent) return system_error("open " + path.parent().str(), -parent.get());
    std::string name(path.name());
    if (::mkdirat(parent.get(), name.c_str(), mode) == 0 || errno == EEXIST) return success();
    return system_error("make the directory " + path.str(), errno);
}

std::optional<Path> shut_directory(const Path& path) {
    std::vector<Path> way{path};
    while (!way.back().is_root()) way.push_back(way.back().parent());
    std::ranges::reverse(way);
    for (const Path& directory : way) {
        struct stat status;
        if (::stat(directory.c_str(), &status) != 0) return std::nullopt;
        bool is_shut =
            S_ISDIR(status.st_mode) && status.st_uid == ::geteuid() && (status.st_mode & S_IRWXU) != S_IRWXU;
        if (is_shut) return directory;
    }
    return std::nullopt;
}

Error with_shut_directory(Error error, const Path& path) {
    std::optional<Path> directory = shut_directory(path);
    if (directory) {
        error.advice = "the mode of " + printable(directory->str()) + " keeps you out; run: chmod u+rwx " +
                       printable(shell_word(directory->str()));
    }
    return error;
}

// Theory of operation. A tree may be deeper than the longest path, the stack or the descriptor table allow.
// So this code never descends: it moves the subdirectories of a top-level directory up beside it, which
// leaves that directory empty. Each directory is moved once, and three are open at a time.

namespace {

// The process that filled it may have removed its own permissions: restore them.
// Threat: another user replaces the directory by a link between two calls, and chmod follows it
// (tests/base/remove_tree_test.cc). The descriptor keeps the directory that was examined.
Fd pin_directory(int parent, const std::string& name) {
    Fd found(::openat(parent, name.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    struct stat status;
    if (!found || ::fstat(found.get(), &status) != 0) return {};
    if ((status.st_mode & S_IRWXU) != S_IRWXU) {
        // fchmod refuses a descriptor of O_PATH.
        std::string magic = "/proc/self/fd/" + std::to_string(found.get());
        (void)!::chmod(magic.c_str(), S_IRWXU);
    }
    return found;
}

Fd open_pinned(const Fd& pinned) {
    return Fd(::openat(pinned.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

std::vector<std::string> names_in(int directory) {
    std::vector<std::string> names;
    DIR* stream = ::fdopendir(::fcntl(directory, F_DUPFD_CLOEXEC, 3));
    if (stream == nullptr) return names;
    ::rewinddir(stream);
    while (const struct dirent* entry = ::readdir(stream)) {
        std::string name = entry->d_name;
        if (name != "." && name != "..") names.push_back(std::move(name));
    }
    ::closedir(stream);
    return names;
}

class Flattener {
  public:
    explicit Flattener(int top) : top_(top) {}

    // False: something can't be removed.
    bool empty() {
        for (std::vector<std::string> names; !(names = names_in(top_)).empty();) {
            bool is_progress = false;
            for (const std::string& name : names) is_progress = remove(name) || is_progress;
            if (!is_progress) return false;
        }
        return true;
    }

  private:
    bool remove(const std::string& name) {
        Fd pinned = pin_directory(top_, name);
        if (!pinned) return ::unlinkat(top_, name.c_str(), 0) == 0;
        Fd directory = open_pinned(pinned);
        for (const std::string& entry : names_in(directory.get())) {
            // Moving a directory also needs its own rights.
            if (pin_directory(directory.get(), entry)) {
                move_up(directory.get(), entry);
            } else {
                ::unlinkat(directory.get(), entry.c_str(), 0);
            }
        }
        return ::unlinkat(top_, name.c_str(), AT_REMOVEDIR) == 0;
    }

    // Under a name that is free at the top; rename(2) may replace an empty directory.
    void move_up(int directory, const std::string& entry) {
        int returned = 0;
        do {
            std::string moved = ".removed." + std::to_string(++count_);
            returned = ::renameat(directory, entry.c_str(), top_, moved.c_str());
        } while (returned != 0 && (errno == EEXIST || errno == ENOTEMPTY || errno == ENOTDIR));
    }

    int top_;
    unsigned long count_ = 0;
};

}  // namespace

void remove_tree(const std::string& path) {
    Fd pinned = pin_directory(AT_FDCWD, path);
    if (!pinned) return;
    Fd top = open_pinned(pinned);
    if (top && Flattener(top.get()).empty()) ::rmdir(path.c_str());
}

}  // namespace base
