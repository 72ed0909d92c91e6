// SPDX-License-Identifier: MIT
#include "session/discarded/copy_tree.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/sendfile.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/file.h"
#include "base/text.h"

namespace session {
namespace {

constexpr int kDirectory = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
constexpr size_t kSendAtOnce = 1u << 20;

std::string message_of(int number) {
    return std::strerror(number);
}

// The size is that of the start: a file that grows meanwhile, through a descriptor that left the jail, is
// cut.
int copy_bytes(int in, int out, off_t size) {
    for (off_t left = size; left > 0;) {
        ssize_t sent = ::sendfile(out, in, nullptr, std::min<size_t>(static_cast<size_t>(left), kSendAtOnce));
        if (sent < 0 && errno == EINTR) continue;
        if (sent < 0) return errno;
        if (sent == 0) return 0;
        left -= sent;
    }
    return 0;
}

}  // namespace

TreeWalk::TreeWalk(int root, size_t depth, Clock::time_point latest) : depth_(depth), latest_(latest) {
    struct stat status;
    if (::fstat(root, &status) == 0) device_ = status.st_dev;
}

bool TreeWalk::look_at(int directory, const char* name, struct stat& status) const {
    if (::fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) != 0 || status.st_dev != device_)
        return false;
    return S_ISREG(status.st_mode) || S_ISDIR(status.st_mode) || S_ISLNK(status.st_mode);
}

base::Fd TreeWalk::open_directory(int directory, const char* name) const {
    return base::Fd(::openat(directory, name, kDirectory));
}

base::Fd TreeWalk::open_parent(int directory, const std::string& relative) const {
    base::Fd parent(::openat(directory, ".", kDirectory));
    size_t begin = 0;
    for (size_t slash; parent && (slash = relative.find('/', begin)) != std::string::npos; begin = slash + 1)
        parent = open_directory(parent.get(), relative.substr(begin, slash - begin).c_str());
    return parent;
}

struct TreeWalk::Count {
    Sum sum;
    size_t left;
};

void TreeWalk::add(Count& count, int directory, const char* name, size_t depth) const {
    constexpr size_t kBetweenLooks = 1024;  // entries between two checks of the clock
    bool is_over = count.left == 0 || (count.left % kBetweenLooks == 0 && is_late());
    struct stat status;
    if (is_over || depth > depth_) {
        count.sum.is_complete = false;
        count.sum.is_deep = depth > depth_;
        return;
    }
    --count.left;
    if (!look_at(directory, name, status)) return;
    if (!S_ISDIR(status.st_mode)) {
        ++count.sum.files;
        count.sum.bytes += static_cast<uint64_t>(status.st_size);
        bool can_be_read = S_ISLNK(status.st_mode) || (status.st_mode & S_IRUSR) != 0;
        if (!can_be_read) ++count.sum.unreadable;
        return;
    }
    base::Fd below = open_directory(directory, name);
    if (!below) {
        ++count.sum.unreadable;
        return;
    }
    base::visit_entries(below.get(), [&](const struct dirent64& entry) {
        add(count, below.get(), entry.d_name, depth + 1);
        return count.sum.is_complete;
    });
}

TreeWalk::Sum TreeWalk::count(int root, const std::string& relative, size_t most) const {
    Count count{.sum = {}, .left = most + 1};
    base::Fd parent = open_parent(root, relative);
    if (parent) add(count, parent.get(), std::string(base::base_name(relative)).c_str(), 0);
    return count.sum;
}

base::Fd TreeCopy::make_parent(int to, const std::string& relative) {
    base::Fd parent(::openat(to, ".", kDirectory));
    size_t begin = 0;
    for (size_t slash; parent && (slash = relative.find('/', begin)) != std::string::npos;
         begin = slash + 1) {
        const std::string name = relative.substr(begin, slash - begin);
        (void)!::mkdirat(parent.get(), name.c_str(), directory_mode());
        parent = base::Fd(::openat(parent.get(), name.c_str(), kDirectory));
    }
    return parent;
}

base::Status TreeCopy::copy(int from, int to, const std::string& relative) {
    const std::string name(base::base_name(relative));
    base::Fd source = walk_.open_parent(from, relative);
    if (!source) return base::system_error("open the directory of " + base::printable(relative), errno);
    base::Fd target = make_parent(to, relative);
    if (!target) {
        const int number = errno;
        const Place place{source.get(), -1, name, relative};
        return leave_out(place, number == ELOOP || number == ENOTDIR
                                    ? "a directory on the way to it is a symbolic link or a file"
                                    : "can't make its directory: " + message_of(number));
    }
    return copy_entry({source.get(), target.get(), name, relative});
}

base::Status TreeCopy::leave_out(const Place& place, const std::string& why) {
    if (!rules_.on_left_out)
        return base::Error{.what = base::format("cannot copy {}: {}", base::printable(place.relative), why)};
    rules_.on_left_out(place.relative, why);
    return base::success();
}

base::Status TreeCopy::copy_entry(const Place& place) {
    struct stat status;
    if (!walk_.look_at(place.from, place.name.c_str(), status)) return base::success();
    if (place.depth > walk_.depth()) return leave_out(place, "too many directories above it");
    if (walk_.is_late()) return leave_out(place, "copying took too long");
    std::string target;
    if (S_ISLNK(status.st_mode)) {
        target.resize(PATH_MAX);
        ssize_t length = ::readlinkat(place.from, place.name.c_str(), target.data(), target.size());
        target.resize(length < 0 ? 0 : static_cast<size_t>(length));
    }
    std::string obstacle = rules_.obstacle ? rules_.obstacle(place.relative, target) : "";
    if (!obstacle.empty()) return leave_out(place, obstacle);
    if (S_ISDIR(status.st_mode)) return copy_directory(place);
    return S_ISLNK(status.st_mode) ? copy_link(place, target) : copy_file(place);
}

base::Status TreeCopy::copy_directory(const Place& place) {
    base::Fd from = walk_.open_directory(place.from, place.name.c_str());
    // Without permission for its owner. It is counted, and a reader of the report finds it there.
    if (!from) return rules_.on_left_out ? leave_out(place, message_of(errno)) : base::success();
    bool is_made = ::mkdirat(place.to, place.name.c_str(), directory_mode()) == 0 || errno == EEXIST;
    base::Fd to(is_made ? ::openat(place.to, place.name.c_str(), kDirectory) : -1);
    if (!to) return leave_out(place, is_made ? "a file is in its place" : message_of(errno));
    base::Status done = base::success();
    base::visit_entries(from.get(), [&](const struct dirent64& entry) {
        done = copy_entry(
            {from.get(), to.get(), entry.d_name, place.relative + "/" + entry.d_name, place.depth + 1});
        return done.ok();
    });
    return done;
}

// An existing file stays, unless the rules replace it.
base::Status TreeCopy::make_room(const Place& place, bool& is_free) {
    struct stat status;
    is_free = ::fstatat(place.to, place.name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0;
    if (is_free) return base::success();
    if (!rules_.replaces) return leave_out(place, "exists; --force replaces it");
    is_free = !S_ISDIR(status.st_mode) && ::unlinkat(place.to, place.name.c_str(), 0) == 0;
    return is_free ? base::success() : leave_out(place, "a directory is in its place");
}

base::Status TreeCopy::copy_file(const Place& place) {
    base::Fd in(::openat(place.from, place.name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    struct stat status;
    if (!in || ::fstat(in.get(), &status) != 0 || !S_ISREG(status.st_mode))
        return rules_.on_left_out ? leave_out(place, message_of(errno)) : base::success();
    bool is_free = false;
    if (base::Status room = make_room(place, is_free); !is_free) return room;
    const mode_t mode = status.st_mode & 0777;
    const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    base::Fd out(::openat(place.to, place.name.c_str(), flags, mode));
    if (!out) return leave_out(place, message_of(errno));
    if (rules_.keeps_modes) ::fchmod(out.get(), mode);
    if (int number = copy_bytes(in.get(), out.get(), status.st_size); number != 0) {
        ::unlinkat(place.to, place.name.c_str(), 0);
        return leave_out(place, message_of(number));
    }
    const struct timespec times[] = {status.st_atim, status.st_mtim};
    ::futimens(out.get(), times);
    ++files_;
    return base::success();
}

base::Status TreeCopy::copy_link(const Place& place, const std::string& target) {
    bool is_free = false;
    if (base::Status room = make_room(place, is_free); !is_free) return room;
    if (::symlinkat(target.c_str(), place.to, place.name.c_str()) != 0)
        return leave_out(place, message_of(errno));
    ++files_;
    return base::success();
}

}  // namespace session
