// SPDX-License-Identifier: MIT
#include "base/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <iterator>
#include <string_view>

namespace base {

Fd& Fd::operator=(Fd&& other) noexcept {
    if (this != &other) {
        reset();
        number_ = std::exchange(other.number_, -1);
    }
    return *this;
}

void Fd::reset() {
    if (number_ >= 0) ::close(std::exchange(number_, -1));
}

namespace {

Error too_large(size_t limit) {
    return Error{.what = "more than " + std::to_string(limit) + " bytes", .advice = "make it smaller"};
}

}  // namespace

Result<std::string> read_descriptor(int fd, size_t limit) {
    std::string content;
    size_t used = 0;
    struct stat status;
    bool has_size = ::fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0;
    // A sparse file may report any size: check the limit before allocating memory.
    if (has_size && static_cast<size_t>(status.st_size) > limit) return too_large(limit);
    content.resize(has_size ? static_cast<size_t>(status.st_size) + 1 : 4096);
    for (;;) {
        if (used == content.size()) content.resize(content.size() * 2);
        ssize_t got = ::read(fd, content.data() + used, content.size() - used);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return system_error("read", errno);
        if (got == 0) break;
        used += static_cast<size_t>(got);
        if (used > limit) return too_large(limit);
        // The end is already known; another read would cost a system call for each file.
        if (has_size && used == static_cast<size_t>(status.st_size)) break;
    }
    content.resize(used);
    return content;
}

Result<std::string> read_file(const std::string& path, size_t limit) {
    // O_NONBLOCK: a FIFO where a file was expected must not hang the launch.
    Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    if (!fd) return system_error("read " + path, errno);
    Result<std::string> content = read_descriptor(fd.get(), limit);
    if (!content) return Error{.what = path + ": " + content.error().what, .advice = content.error().advice};
    return content;
}

Status write_all(int fd, std::string_view content) {
    while (!content.empty()) {
        ssize_t written = ::write(fd, content.data(), content.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return system_error("write", errno);
        content.remove_prefix(static_cast<size_t>(written));
    }
    return success();
}

namespace {

// The kernel sends SIGXFSZ for such a write, which would kill us.
bool is_larger_than_allowed(std::string_view content) {
    struct rlimit limit;
    return ::getrlimit(RLIMIT_FSIZE, &limit) == 0 && content.size() > limit.rlim_cur;
}

struct NewFile {
    Fd fd;
    std::string path;
};

// A process that was killed has left its file, and its process number comes again. session/control/record.cc
// removes such files by the digits at the end.
NewFile create_beside(const std::string& path, unsigned mode) {
    constexpr int kMostLeft = 100;
    const std::string start = path + ".new." + std::to_string(::getpid());
    NewFile made;
    for (int left = 0; left < kMostLeft; ++left) {
        made.path = left == 0 ? start : start + std::to_string(left);
        made.fd = Fd(::open(made.path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode));
        if (made.fd || errno != EEXIST) return made;
    }
    return made;
}

}  // namespace

Status write_file_atomically(const std::string& path, std::string_view content, unsigned mode) {
    if (is_larger_than_allowed(content)) return system_error("write " + path, EFBIG);
    const auto [fd, temporary] = create_beside(path, mode);
    if (!fd) return system_error("write " + temporary, errno);
    Status written = write_all(fd.get(), content);
    if (written && ::fsync(fd.get()) != 0) written = system_error("flush " + temporary, errno);
    if (written && ::rename(temporary.c_str(), path.c_str()) != 0) {
        written = system_error("rename " + temporary + " to " + path, errno);
    }
    if (!written) ::unlink(temporary.c_str());
    return written;
}

Status make_directories(const std::string& path, unsigned mode) {
    if (::mkdir(path.c_str(), mode) == 0) return success();
    if (errno == ENOENT) {
        size_t slash = path.rfind('/');
        if (slash == 0 || slash == std::string::npos)
            return system_error("make the directory " + path, ENOENT);
        if (Status parent = make_directories(path.substr(0, slash), mode); !parent) return parent;
        if (::mkdir(path.c_str(), mode) == 0) return success();
    }
    if (errno != EEXIST) return system_error("make the directory " + path, errno);
    struct stat status;
    bool is_directory = ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
    return is_directory ? success() : system_error("make the directory " + path, ENOTDIR);
}

Result<Fd> memory_file(const char* name, std::string_view content) {
    Fd fd(::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
    if (!fd) return system_error(std::string("make the memory file ") + name, errno);
    // pwrite, so that the position stays at the start.
    for (size_t done = 0; done < content.size();) {
        ssize_t written =
            ::pwrite(fd.get(), content.data() + done, content.size() - done, static_cast<off_t>(done));
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return system_error(std::string("write the memory file ") + name, errno);
        done += static_cast<size_t>(written);
    }
    constexpr int kSeals = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;
    if (::fcntl(fd.get(), F_ADD_SEALS, kSeals) != 0) {
        return system_error(std::string("seal the memory file ") + name, errno);
    }
    return fd;
}

bool file_exists(const std::string& path) {
    return ::access(path.c_str(), F_OK) == 0;
}

bool is_still_named(int fd, const std::string& path) {
    struct stat open, named;
    return ::fstat(fd, &open) == 0 && ::lstat(path.c_str(), &named) == 0 && open.st_ino == named.st_ino &&
           open.st_dev == named.st_dev;
}

bool is_closed_or_gone(int number) {
    // The last two: the mounted file system is dead, and a FIFO or device without a peer.
    constexpr int kReasons[] = {EACCES, EPERM, ENOENT, ENOTDIR, ELOOP, ENAMETOOLONG, ENOTCONN, ENXIO};
    return std::ranges::find(kReasons, number) != std::end(kReasons);
}

bool is_shortage(int number) {
    constexpr int kReasons[] = {EMFILE, ENFILE, ENOMEM};
    return std::ranges::find(kReasons, number) != std::end(kReasons);
}

bool visit_entries(int directory, const std::function<bool(const struct dirent64&)>& visit) {
    alignas(struct dirent64) char bytes[32768];
    for (ssize_t got; (got = ::getdents64(directory, bytes, sizeof bytes)) != 0;) {
        if (got < 0) return false;
        for (ssize_t at = 0; at < got;) {
            const auto* entry = reinterpret_cast<const struct dirent64*>(bytes + at);
            at += entry->d_reclen;
            std::string_view name = entry->d_name;
            if (name != "." && name != ".." && !visit(*entry)) return true;
        }
    }
    return true;
}

}  // namespace base
