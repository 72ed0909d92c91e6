// SPDX-License-Identifier: MIT
#include "layers/tree.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <linux/openat2.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <memory>

#include "base/text.h"

namespace layers {
namespace {

constexpr size_t kBlock = 128u << 10;
constexpr std::string_view kOverlayMark = "user.overlay.";
constexpr std::string_view kAcl = "system.posix_acl_";

constexpr off_t kPart = 64 << 20;  // copied by the kernel between two looks at the clock

bool is_over(const Deadline& end) {
    return end && std::chrono::steady_clock::now() >= *end;
}

// Fewer bytes than wanted: the end of the file.
ssize_t read_block(int fd, char* buffer, size_t wanted, off_t at) {
    size_t got = 0;
    while (got < wanted) {
        ssize_t count = ::pread(fd, buffer + got, wanted - got, at + static_cast<off_t>(got));
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return -1;
        if (count == 0) break;
        got += static_cast<size_t>(count);
    }
    return static_cast<ssize_t>(got);
}

// Where the next bytes are that are not in a hole; the end of the file: none.
off_t next_data(int file, off_t at, off_t size) {
    const off_t data = ::lseek(file, at, SEEK_DATA);
    if (data >= 0) return data;
    return errno == ENXIO ? size : at;  // else the file system has no holes
}

int copy_by_reading(int from, int to, off_t begin, off_t end, const Deadline& deadline) {
    auto buffer = std::make_unique<char[]>(kBlock);
    for (off_t at = begin; at < end;) {
        if (is_over(deadline)) return ETIME;
        ssize_t got =
            ::pread(from, buffer.get(), std::min<size_t>(kBlock, static_cast<size_t>(end - at)), at);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return errno;
        if (got == 0) return 0;
        for (ssize_t put = 0; put < got;) {
            ssize_t count = ::pwrite(to, buffer.get() + put, static_cast<size_t>(got - put), at + put);
            if (count < 0 && errno == EINTR) continue;
            if (count < 0) return errno;
            put += count;
        }
        at += got;
    }
    return 0;
}

int copy_range(int from, int to, off_t begin, off_t end, const Deadline& deadline) {
    for (off_t at = begin; at < end;) {
        if (is_over(deadline)) return ETIME;
        off_t out = at;
        ssize_t count =
            ::copy_file_range(from, &at, to, &out, static_cast<size_t>(std::min(end - at, kPart)), 0);
        if (count > 0) continue;
        if (count == 0) return 0;
        // Between two file systems, or where the file system can't.
        bool is_unsupported =
            errno == EXDEV || errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP || errno == EPERM;
        return is_unsupported ? copy_by_reading(from, to, at, end, deadline) : errno;
    }
    return 0;
}

}  // namespace

int open_below(int root, const std::string& path, int flags) {
    struct open_how how = {};
    how.flags = static_cast<uint64_t>(flags | O_CLOEXEC);
    how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV;
    long fd = ::syscall(SYS_openat2, root, path.empty() ? "." : path.c_str(), &how, sizeof how);
    return fd < 0 ? -errno : static_cast<int>(fd);
}

Place place_of(int root, const std::string& path) {
    int opened = open_below(root, parent_of(path), O_PATH | O_DIRECTORY);
    Place place;
    place.error = opened < 0 ? -opened : 0;
    if (opened >= 0) place.directory = base::Fd(opened);
    place.name = path.empty() ? "." : std::string(base::base_name(path));
    return place;
}

int look(int root, const std::string& path, struct stat& status) {
    Place place = place_of(root, path);
    if (place.error != 0) return place.error == ENOTDIR || place.error == ELOOP ? ENOENT : place.error;
    return ::fstatat(place.directory.get(), place.name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 ? 0
                                                                                                   : errno;
}

base::Result<std::vector<std::string>> names_in(int root, const std::string& path) {
    std::vector<std::string> names;
    base::Fd directory(open_below(root, path, O_RDONLY | O_DIRECTORY));
    if (!directory) return base::system_error("open " + base::printable(path), -directory.get());
    bool is_complete = base::visit_entries(directory.get(), [&](const struct dirent64& entry) {
        names.emplace_back(entry.d_name);
        return true;
    });
    if (!is_complete) return base::system_error("list " + base::printable(path), errno);
    std::ranges::sort(names);
    return names;
}

std::string join(std::string_view directory, std::string_view name) {
    std::string path(directory);
    if (!path.empty()) path += '/';
    return path += name;
}

std::string parent_of(std::string_view path) {
    size_t slash = path.rfind('/');
    return slash == std::string_view::npos ? "" : std::string(path.substr(0, slash));
}

bool is_within(std::string_view path, std::string_view ancestor) {
    return ancestor.empty() || path == ancestor ||
           (path.size() > ancestor.size() && path.starts_with(ancestor) && path[ancestor.size()] == '/');
}

base::Result<std::string> link_target(int root, const std::string& path) {
    Place place = place_of(root, path);
    if (place.error != 0)
        return base::system_error("open the directory of " + base::printable(path), place.error);
    std::string target(PATH_MAX, '\0');
    ssize_t length = ::readlinkat(place.directory.get(), place.name.c_str(), target.data(), target.size());
    if (length < 0) return base::system_error("read the link " + base::printable(path), errno);
    target.resize(static_cast<size_t>(length));
    return target;
}

int64_t nanoseconds(const struct timespec& time) {
    return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

int have_same_bytes(int first, int second, const Deadline& end) {
    struct stat one_status, other_status;
    if (::fstat(first, &one_status) != 0 || ::fstat(second, &other_status) != 0) return -errno;
    const off_t size = one_status.st_size;
    if (size != other_status.st_size) return 0;
    auto one = std::make_unique<char[]>(kBlock), other = std::make_unique<char[]>(kBlock);
    for (off_t at = 0; at < size; at += static_cast<off_t>(kBlock)) {
        if (is_over(end)) return -ETIME;
        at = std::min(next_data(first, at, size), next_data(second, at, size));
        if (at >= size) break;
        const ssize_t got = read_block(first, one.get(), kBlock, at);
        const ssize_t also = read_block(second, other.get(), kBlock, at);
        if (got < 0 || also < 0) return -errno;
        if (got != also || std::memcmp(one.get(), other.get(), static_cast<size_t>(got)) != 0) return 0;
    }
    return 1;
}

int copy_bytes(int from, int to, uint64_t size, const Deadline& deadline) {
    if (size == 0) return 0;
    if (::ioctl(to, FICLONE, from) == 0) return 0;
    const auto end = static_cast<off_t>(size);
    for (off_t at = 0; at < end;) {
        const off_t data = next_data(from, at, end);
        if (data >= end) break;  // only a hole is left
        off_t hole = ::lseek(from, data, SEEK_HOLE);
        if (hole < 0 || hole > end) hole = end;
        if (int number = copy_range(from, to, data, hole, deadline); number != 0) return number;
        at = hole;
    }
    return ::ftruncate(to, end) == 0 ? 0 : errno;
}

int copy_attributes(int from, int to) {
    ssize_t length = ::flistxattr(from, nullptr, 0);
    if (length <= 0) return length == 0 || errno == EOPNOTSUPP ? 0 : errno;
    std::string list(static_cast<size_t>(length), '\0');
    length = ::flistxattr(from, list.data(), list.size());
    if (length < 0) return errno;
    list.resize(static_cast<size_t>(length));
    for (std::string_view name : base::split(list, '\0')) {
        const bool is_acl = name.starts_with(kAcl);
        if ((!name.starts_with("user.") && !is_acl) || name.starts_with(kOverlayMark)) continue;
        const std::string key(name);
        std::string value(XATTR_SIZE_MAX, '\0');
        ssize_t size = ::fgetxattr(from, key.c_str(), value.data(), value.size());
        if (size < 0) return errno;
        bool is_set = ::fsetxattr(to, key.c_str(), value.data(), static_cast<size_t>(size), 0) == 0;
        // The project's file system may not support them. An overlay refuses ACLs with other users than those
        // of its user namespace.
        if (!is_set && errno != EOPNOTSUPP && !(is_acl && errno == EINVAL)) return errno;
    }
    return 0;
}

int set_mode(int root, const std::string& path, mode_t mode) {
    base::Fd file(open_below(root, path, O_PATH | O_NOFOLLOW));
    if (!file) return -file.get();
    struct stat status;
    if (::fstat(file.get(), &status) != 0) return errno;
    if (S_ISLNK(status.st_mode)) return ELOOP;
    if ((status.st_mode & 07777) == mode) return 0;
    const std::string name = base::format("/proc/self/fd/{}", file.get());
    return ::chmod(name.c_str(), mode) == 0 ? 0 : errno;
}

MadeReadable::MadeReadable(int root, const std::string& path, const struct stat& status)
    : root_(root), path_(path), mode_(status.st_mode & 07777) {
    const mode_t needed = S_ISDIR(status.st_mode) ? 0500 : 0400;
    is_changed_ = (mode_ & needed) != needed && set_mode(root, path, mode_ | needed) == 0;
}

MadeReadable::~MadeReadable() {
    if (is_changed_) (void)set_mode(root_, path_, mode_);
}

bool is_whiteout(const struct stat& status) {
    return S_ISCHR(status.st_mode) && status.st_rdev == makedev(0, 0);
}

}  // namespace layers
