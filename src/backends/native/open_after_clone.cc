// SPDX-License-Identifier: MIT
#include "backends/native/open_after_clone.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstring>

namespace backends::native {
namespace {

constexpr int kOpenFlags = O_PATH | O_NOFOLLOW | O_CLOEXEC;

enum class Missing { is_error, becomes_directory, becomes_file };
enum class LastLink { is_error, is_opened };

constexpr mode_t kDirectoryMode = 0755;

int make_directory(int directory, const char* name, mode_t mode) {
    return ::mkdirat(directory, name, mode) == 0 || errno == EEXIST ? 0 : -errno;
}

int make_last(int directory, const char* name, Missing missing) {
    if (missing == Missing::becomes_directory) return make_directory(directory, name, kDirectoryMode);
    return ::mknodat(directory, name, S_IFREG | 0444, 0) == 0 || errno == EEXIST ? 0 : -errno;
}

// One component. O_PATH opens a link itself instead of refusing it.
int open_next(int directory, const char* name, LastLink link) {
    int next = ::openat(directory, name, kOpenFlags);
    if (next < 0) return -errno;
    if (link == LastLink::is_opened) return next;
    struct stat status;
    int number = ::fstat(next, &status) != 0 ? errno : S_ISLNK(status.st_mode) ? ELOOP : 0;
    if (number == 0) return next;
    ::close(next);
    return -number;
}

// Before Linux 5.6 there is no openat2: open one component after the other.
int open_stepwise(int directory, const char* path, Missing last, mode_t leading, LastLink last_link) {
    bool is_absolute = path[0] == '/';
    int current =
        ::openat(is_absolute ? AT_FDCWD : directory, is_absolute ? "/" : ".", kOpenFlags | O_DIRECTORY);
    if (current < 0) return -errno;
    char name[NAME_MAX + 1];
    while (*path != '\0') {
        size_t length = std::strcspn(path, "/");
        if (length > NAME_MAX) {
            ::close(current);
            return -ENAMETOOLONG;
        }
        if (length > 0 && !(length == 1 && path[0] == '.')) {
            std::memcpy(name, path, length);
            name[length] = '\0';
            bool is_last = path[length] == '\0';
            LastLink link = is_last ? last_link : LastLink::is_error;
            int next = open_next(current, name, link);
            if (next == -ENOENT && last != Missing::is_error) {
                next = is_last ? make_last(current, name, last) : make_directory(current, name, leading);
                if (next == 0) next = open_next(current, name, link);
            }
            ::close(current);
            if (next < 0) return next;
            current = next;
        }
        path += length;
        if (*path == '/') ++path;
    }
    return current;
}

int open_with(int directory, const char* path, LastLink last_link) {
    struct open_how how = {};
    // With O_NOFOLLOW the kernel opens a link at the end of the path itself, even with RESOLVE_NO_SYMLINKS.
    how.flags = O_PATH | O_CLOEXEC | (last_link == LastLink::is_opened ? O_NOFOLLOW : 0);
    how.resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
    if (path[0] != '/') how.resolve |= RESOLVE_BENEATH;
    // EAGAIN: a directory on the way was renamed, and the kernel can't decide whether the path is below.
    for (int attempt = 0; attempt < 64; ++attempt) {
        long opened = ::syscall(SYS_openat2, directory, path, &how, sizeof how);
        if (opened >= 0) return static_cast<int>(opened);
        if (errno != EAGAIN) break;
    }
    // Old seccomp filters of containers return EPERM for calls that they do not list.
    if (errno != ENOSYS && errno != EPERM) return -errno;
    return open_stepwise(directory, path, Missing::is_error, 0, last_link);
}

}  // namespace

int open_without_links(int directory, const char* path) {
    return open_with(directory, path, LastLink::is_error);
}

int open_link_itself(int directory, const char* path) {
    return open_with(directory, path, LastLink::is_opened);
}

int open_or_make_without_links(int directory, const char* path, bool is_directory, mode_t leading) {
    Missing last = is_directory ? Missing::becomes_directory : Missing::becomes_file;
    return open_stepwise(directory, path, last, leading, LastLink::is_error);
}

}  // namespace backends::native
