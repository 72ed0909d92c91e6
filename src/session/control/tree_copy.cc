// SPDX-License-Identifier: MIT
#include "session/control/tree_copy.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

#include "base/file.h"
#include "base/no_links.h"
#include "base/text.h"

namespace session {
namespace {

constexpr size_t kDeepestCopy = 64;
constexpr mode_t kKeptMode = 0777;

std::string path_of(int descriptor) {
    return "/proc/self/fd/" + std::to_string(descriptor);
}

base::Error copy_failure(const std::string& name, int number) {
    return base::system_error("copy " + base::printable(name), number);
}

base::Error too_large(std::string_view what) {
    return base::Error{.what = base::format("it has too many {} to be copied", what)};
}

// Opens a directory of the caller even if its mode forbids that.
base::Fd open_directory(int parent, const std::string& name, const struct stat& status) {
    constexpr int kFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    base::Fd opened(::openat(parent, name.c_str(), kFlags));
    if (opened && (status.st_mode & S_IXUSR) != 0) return opened;
    base::Fd path(::openat(parent, name.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (path && ::chmod(path_of(path.get()).c_str(), (status.st_mode & kKeptMode) | S_IRWXU) == 0)
        return base::Fd(::openat(parent, name.c_str(), kFlags));
    return opened;
}

class Copier {
  public:
    explicit Copier(CopyLimits limits) : left_(limits) {}

    base::Status copy(const NameIn& from, const NameIn& to, size_t depth) {
        struct stat status;
        if (::fstatat(from.directory, from.name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0)
            return copy_failure(from.name, errno);
        if (left_.entries-- == 0) return too_large("files");
        switch (status.st_mode & S_IFMT) {
            case S_IFREG:
                return copy_file(from, to);
            case S_IFDIR:
                return depth < kDeepestCopy ? copy_directory(from, to, status, depth) : too_large("levels");
            case S_IFLNK:
                return copy_link(from, to);
            case S_IFIFO:
                return ::mkfifoat(to.directory, to.name.c_str(), status.st_mode & kKeptMode) == 0
                           ? base::success()
                           : copy_failure(from.name, errno);
            default:
                return base::Error{.what = base::printable(from.name) + " is a socket or a device"};
        }
    }

  private:
    base::Status copy_file(const NameIn& from, const NameIn& to) {
        base::Fd path(::openat(from.directory, from.name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
        struct stat status;
        if (!path || ::fstat(path.get(), &status) != 0 || !S_ISREG(status.st_mode))
            return copy_failure(from.name, path ? EINVAL : errno);
        // A file of the caller may have a mode that forbids reading.
        const std::string source = path_of(path.get());
        if ((status.st_mode & S_IRUSR) == 0)
            (void)!::chmod(source.c_str(), (status.st_mode & kKeptMode) | S_IRUSR);
        base::Fd in(::open(source.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
        if (!in) return copy_failure(from.name, errno);
        base::Fd out(::openat(to.directory, to.name.c_str(),
                              O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
        if (!out) return copy_failure(from.name, errno);
        std::vector<char> bytes(128u << 10);
        ssize_t got = 0;
        while ((got = ::read(in.get(), bytes.data(), bytes.size())) > 0) {
            const auto size = static_cast<size_t>(got);
            if (left_.bytes < size) return too_large("bytes");
            left_.bytes -= size;
            if (base::Status written = base::write_all(out.get(), {bytes.data(), size}); !written)
                return written.error();
        }
        if (got < 0) return copy_failure(from.name, errno);
        return set_attributes(out.get(), status, from.name);
    }

    base::Status copy_directory(const NameIn& from, const NameIn& to, const struct stat& status,
                                size_t depth) {
        base::Fd in = open_directory(from.directory, from.name, status);
        if (!in) return copy_failure(from.name, errno);
        if (::mkdirat(to.directory, to.name.c_str(), 0700) != 0) return copy_failure(from.name, errno);
        base::Fd out(
            ::openat(to.directory, to.name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
        if (!out) return copy_failure(from.name, errno);
        base::Status copied = base::success();
        bool is_read = base::visit_entries(in.get(), [&](const struct dirent64& entry) {
            copied = copy({in.get(), entry.d_name}, {out.get(), entry.d_name}, depth + 1);
            return copied.ok();
        });
        if (!copied) return copied;
        if (!is_read) return copy_failure(from.name, EIO);
        return set_attributes(out.get(), status, from.name);
    }

    static base::Status copy_link(const NameIn& from, const NameIn& to) {
        char text[PATH_MAX + 1];
        ssize_t length = ::readlinkat(from.directory, from.name.c_str(), text, PATH_MAX);
        if (length < 0) return copy_failure(from.name, errno);
        text[length] = '\0';
        if (::symlinkat(text, to.directory, to.name.c_str()) != 0) return copy_failure(from.name, errno);
        return base::success();
    }

    static base::Status set_attributes(int file, const struct stat& status, const std::string& name) {
        const struct timespec times[] = {status.st_atim, status.st_mtim};
        if (::futimens(file, times) != 0 || ::fchmod(file, status.st_mode & kKeptMode) != 0)
            return copy_failure(name, errno);
        return base::success();
    }

    CopyLimits left_;
};

}  // namespace

base::Status copy_tree(const NameIn& from, const NameIn& to, CopyLimits limits) {
    return Copier(limits).copy(from, to, 0);
}

void remove_at(int directory, const std::string& name) {
    if (::unlinkat(directory, name.c_str(), 0) == 0) return;
    base::remove_tree(base::format("{}/{}", path_of(directory), name));
}

}  // namespace session
