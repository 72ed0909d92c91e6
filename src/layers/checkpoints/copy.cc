// SPDX-License-Identifier: MIT
#include "layers/checkpoints/copy.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/text.h"
#include "layers/changes.h"
#include "layers/tree.h"

namespace layers {
namespace {

constexpr std::string_view kTooLong = "the copy took too long";

base::Error copy_failed(const std::string& path, int number) {
    return base::system_error("copy " + (path.empty() ? "the layer" : base::printable(path)), number);
}

base::Error too_long() {
    return base::Error{.what = std::string(kTooLong), .exit_code = base::ExitCode::check_failed};
}

using Attributes = std::map<std::string, std::string>;

// Attributes of the user, which include the kernel's marks of an overlay, and POSIX ACLs.
base::Result<Attributes> attributes_of(int file) {
    Attributes all;
    ssize_t length = ::flistxattr(file, nullptr, 0);
    if (length < 0 && errno != EOPNOTSUPP) return base::system_error("read attributes", errno);
    if (length <= 0) return all;
    std::string list(static_cast<size_t>(length), '\0');
    length = ::flistxattr(file, list.data(), list.size());
    if (length < 0) return base::system_error("read attributes", errno);
    list.resize(static_cast<size_t>(length));
    for (std::string_view name : base::split(list, '\0')) {
        if (!name.starts_with("user.") && !name.starts_with("system.posix_acl_")) continue;
        std::string value(XATTR_SIZE_MAX, '\0');
        ssize_t size = ::fgetxattr(file, std::string(name).c_str(), value.data(), value.size());
        if (size < 0) return base::system_error("read attributes", errno);
        value.resize(static_cast<size_t>(size));
        all[std::string(name)] = std::move(value);
    }
    return all;
}

class Copy {
  public:
    explicit Copy(const CopyRequest& request) : request_(request) {}

    base::Status run() {
        struct stat status;
        if (int number = look(request_.from, "", status); number != 0) return copy_failed("", number);
        if (base::Status copied = copy_directory("", status); !copied) return copied;
        return is_of_project() ? list_again() : base::success();
    }

  private:
    bool is_of_project() const { return request_.listing != nullptr; }

    base::Status copy(const std::string& path) {
        if (request_.end && std::chrono::steady_clock::now() >= *request_.end) return too_long();
        if (path.size() > kLongestPath) return copy_failed(path, ENAMETOOLONG);
        struct stat status;
        if (int number = look(request_.from, path, status); number != 0)
            return is_of_project() && number == ENOENT ? base::success()
                                                       : base::Status(copy_failed(path, number));
        if (is_of_project() && path == kStage) return base::success();
        if (S_ISDIR(status.st_mode)) {
            Place place = place_of(request_.to, path);
            if (place.error != 0) return copy_failed(path, place.error);
            if (::mkdirat(place.directory.get(), place.name.c_str(), 0700) != 0)
                return copy_failed(path, errno);
            return copy_directory(path, status);
        }
        if (status.st_nlink > 1) {
            auto [first, is_new] = first_names_.try_emplace({status.st_dev, status.st_ino}, path);
            if (is_of_project()) linked_.push_back(path);
            if (!is_new) {
                if (base::Status linked = link(request_.to, first->second, path); !linked) return linked;
                return list(path, status);
            }
        }
        base::Status copied = S_ISREG(status.st_mode)   ? copy_file(path, status)
                              : S_ISLNK(status.st_mode) ? copy_link(path, status)
                                                        : make_node(path, status);
        return copied ? list(path, status) : copied;
    }

    // What can't be made is not in the list.
    base::Status list(const std::string& path, const struct stat& original) const {
        struct stat copy;
        if (!is_of_project() || look(request_.to, path, copy) != 0) return base::success();
        request_.listing->add(path, {.mode = copy.st_mode,
                                     .inode = copy.st_ino,
                                     .changed = nanoseconds(copy.st_ctim),
                                     .original = original.st_ino,
                                     .original_changed = nanoseconds(original.st_ctim)});
        return base::success();
    }

    // A further name changes the ctime of a file.
    base::Status list_again() const {
        for (const std::string& path : linked_) {
            struct stat original;
            const Listed* listed = request_.listing->find(path);
            if (listed == nullptr || look(request_.from, path, original) != 0) continue;
            if (original.st_ino != listed->original) continue;
            const int64_t seen = listed->original_changed;
            if (base::Status added = list(path, original); !added) return added;
            Listed own = *request_.listing->find(path);
            own.original_changed = seen;
            request_.listing->add(path, own);
        }
        return base::success();
    }

    // Holds no descriptor while it copies what is below: a tree may be deeper than a process may have files.
    base::Status copy_directory(const std::string& path, const struct stat& status) {
        std::optional<MadeReadable> readable;
        if (!is_of_project()) readable.emplace(request_.from, path, status);
        if (is_of_project()) {
            const int opened = open_below(request_.from, path, O_RDONLY | O_DIRECTORY);
            if (opened == -EXDEV) return is_mounted(path);
            if (opened == -EACCES) return finish_directory(path, status);
            if (opened >= 0) ::close(opened);
        }
        if (base::Status copied = copy_marks(path); !copied) return copied;
        base::Result<std::vector<std::string>> names = names_in(request_.from, path);
        if (!names) return names.error();
        for (const std::string& name : *names) {
            if (base::Status copied = copy(join(path, name)); !copied) return copied;
        }
        return finish_directory(path, status);
    }

    base::Status finish_directory(const std::string& path, const struct stat& status) const {
        base::Fd to(open_below(request_.to, path, O_RDONLY | O_DIRECTORY));
        if (!to) return copy_failed(path, -to.get());
        if (base::Status finished = finish(to.get(), path, status); !finished) return finished;
        return list(path, status);
    }

    static base::Status is_mounted(const std::string& path) {
        return base::Error{
            .what = base::format("another file system is mounted at {}", base::printable(path)),
            .advice = "unmount it, or leave --cow out to write to the project itself"};
    }

    base::Status copy_marks(const std::string& path) const {
        base::Fd from(open_below(request_.from, path, O_RDONLY | O_DIRECTORY));
        if (!from) return copy_failed(path, -from.get());
        base::Fd to(open_below(request_.to, path, O_RDONLY | O_DIRECTORY));
        if (!to) return copy_failed(path, -to.get());
        if (is_of_project()) return copied_attributes(path, from.get(), to.get());
        base::Result<Attributes> attributes = attributes_of(from.get());
        return attributes ? set_attributes(to.get(), *attributes, path) : base::Status(attributes.error());
    }

    static base::Status copied_attributes(const std::string& path, int from, int to) {
        const int number = copy_attributes(from, to);
        return number == 0 ? base::success() : base::Status(copy_failed(path, number));
    }

    base::Result<base::Fd> make_file(const std::string& path) const {
        Place place = place_of(request_.to, path);
        if (place.error != 0) return copy_failed(path, place.error);
        base::Fd to(::openat(place.directory.get(), place.name.c_str(),
                             O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
        if (!to) return copy_failed(path, errno);
        return to;
    }

    base::Status copy_of_project(const std::string& path, const struct stat& status) const {
        base::Fd from(open_below(request_.from, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK));
        if (!from && from.get() == -ENOENT) return base::success();
        if (!from && from.get() != -EACCES) return copy_failed(path, -from.get());
        base::Result<base::Fd> to = make_file(path);
        if (!to) return to.error();
        const int number =
            from ? copy_bytes(from.get(), to->get(), static_cast<uint64_t>(status.st_size)) : 0;
        if (number != 0) return copy_failed(path, number);
        if (base::Status set = from ? copied_attributes(path, from.get(), to->get()) : base::success(); !set)
            return set;
        struct stat plain = status;
        plain.st_mode &= ~static_cast<mode_t>(S_ISUID | S_ISGID);
        return finish(to->get(), path, plain);
    }

    base::Status copy_file(const std::string& path, const struct stat& status) {
        if (is_of_project()) return copy_of_project(path, status);
        const MadeReadable readable(request_.from, path, status);
        base::Fd from(open_below(request_.from, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK));
        if (!from) return copy_failed(path, -from.get());
        base::Result<Attributes> attributes = attributes_of(from.get());
        if (!attributes) return attributes.error();
        if (is_same_as_before(path, status, from.get(), *attributes) && link(request_.previous, path, path))
            return base::success();
        base::Result<base::Fd> to = make_file(path);
        if (!to) return to.error();
        const auto size = static_cast<uint64_t>(status.st_size);
        const int number = copy_bytes(from.get(), to->get(), size, request_.end);
        if (number == ETIME) return too_long();
        if (number != 0) return copy_failed(path, number);
        if (base::Status set = set_attributes(to->get(), *attributes, path); !set) return set;
        return finish(to->get(), path, status);
    }

    // A ctime can't show it: a program writes to a mapped file without a new ctime for each page.
    bool is_same_as_before(const std::string& path, const struct stat& status, int file,
                           const Attributes& attributes) const {
        struct stat before;
        if (request_.previous < 0 || look(request_.previous, path, before) != 0) return false;
        bool is_alike = S_ISREG(before.st_mode) && before.st_mode == status.st_mode &&
                        before.st_gid == status.st_gid && before.st_size == status.st_size &&
                        nanoseconds(before.st_mtim) == nanoseconds(status.st_mtim) && status.st_nlink == 1;
        if (!is_alike) return false;
        base::Fd other(open_below(request_.previous, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK));
        if (!other) return false;
        base::Result<Attributes> earlier = attributes_of(other.get());
        if (!earlier || *earlier != attributes) return false;
        return have_same_bytes(file, other.get(), request_.end) == 1;
    }

    base::Status copy_link(const std::string& path, const struct stat& status) {
        base::Result<std::string> target = link_target(request_.from, path);
        if (!target) return target.error();
        Place place = place_of(request_.to, path);
        if (place.error != 0) return copy_failed(path, place.error);
        if (::symlinkat(target->c_str(), place.directory.get(), place.name.c_str()) != 0)
            return copy_failed(path, errno);
        const struct timespec times[] = {status.st_atim, status.st_mtim};
        (void)::utimensat(place.directory.get(), place.name.c_str(), times, AT_SYMLINK_NOFOLLOW);
        return base::success();
    }

    // A deletion (a character device 0:0, which needs no privilege), a pipe or a socket.
    base::Status make_node(const std::string& path, const struct stat& status) {
        Place place = place_of(request_.to, path);
        if (place.error != 0) return copy_failed(path, place.error);
        if (::mknodat(place.directory.get(), place.name.c_str(), status.st_mode, status.st_rdev) != 0)
            return is_of_project() && errno == EPERM ? base::success()
                                                     : base::Status(copy_failed(path, errno));
        if (int number = S_ISCHR(status.st_mode) ? 0 : set_mode(request_.to, path, status.st_mode & 07777);
            number != 0)
            return copy_failed(path, number);
        return base::success();
    }

    base::Status link(int root, const std::string& from, const std::string& path) const {
        Place source = place_of(root, from), target = place_of(request_.to, path);
        if (source.error != 0) return copy_failed(path, source.error);
        if (target.error != 0) return copy_failed(path, target.error);
        if (::linkat(source.directory.get(), source.name.c_str(), target.directory.get(), target.name.c_str(),
                     0) != 0)
            return copy_failed(path, errno);
        return base::success();
    }

    static base::Status set_attributes(int to, const Attributes& attributes, const std::string& path) {
        for (const auto& [name, value] : attributes) {
            if (::fsetxattr(to, name.c_str(), value.data(), value.size(), 0) != 0)
                return copy_failed(path, errno);
        }
        return base::success();
    }

    // The group first: a new group clears set-id bits.
    static base::Status finish(int to, const std::string& path, const struct stat& status) {
        struct stat now;
        if (::fstat(to, &now) != 0) return copy_failed(path, errno);
        if (now.st_gid != status.st_gid) (void)!::fchown(to, static_cast<uid_t>(-1), status.st_gid);
        const struct timespec times[] = {status.st_atim, status.st_mtim};
        if (::fchmod(to, status.st_mode & 07777) != 0 || ::futimens(to, times) != 0)
            return copy_failed(path, errno);
        return base::success();
    }

    const CopyRequest& request_;
    // Of files with several names, by device and inode.
    std::map<std::pair<uint64_t, uint64_t>, std::string> first_names_;
    std::vector<std::string> linked_;  // of a project: all their names
};

}  // namespace

base::Status copy_upper(const CopyRequest& request) {
    return Copy(request).run();
}

bool took_too_long(const base::Error& error) {
    return error.what == kTooLong;
}

}  // namespace layers
