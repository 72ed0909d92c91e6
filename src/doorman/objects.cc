// SPDX-License-Identifier: MIT
#include "doorman/objects.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <utime.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <functional>
#include <optional>

#include "base/parse.h"
#include "doorman/answered_calls.h"
#include "doorman/caller.h"

namespace doorman {
namespace {

constexpr std::string_view kDeleted = " (deleted)";

int open_from(int directory, const std::string& path, uint64_t flags, uint64_t resolve) {
    struct open_how how = {};
    how.flags = flags | O_PATH | O_CLOEXEC;
    how.resolve = resolve;
    int descriptor = -1;
    do {
        descriptor = static_cast<int>(::syscall(kOpenat2, directory, path.c_str(), &how, sizeof how));
    } while (descriptor < 0 && (errno == EINTR || errno == EAGAIN));
    return descriptor;
}

// "123" at the start of the text, up to its end or a slash.
std::optional<int> take_number(std::string_view& text) {
    std::string_view rest = text;
    const std::optional<int> number = base::take_number<int>(rest);
    if (!number || *number < 0 || (!rest.empty() && rest.front() != '/')) return std::nullopt;
    text = rest;
    return number;
}

bool take_prefix(std::string_view& text, std::string_view prefix) {
    if (!text.starts_with(prefix)) return false;
    text.remove_prefix(prefix.size());
    return true;
}

// Threat: here /proc/self means this process with its own descriptors. Magic links of /proc are not followed.
// The usual paths of one's own descriptors are parsed here instead, and mean those of the caller.
struct OwnDescriptor {
    int number;
    std::string_view rest;  // "" or "/and/more"
};
std::optional<OwnDescriptor> as_own_descriptor(const Caller& caller, std::string_view path) {
    constexpr std::string_view kStandard[] = {"/dev/stdin", "/dev/stdout", "/dev/stderr"};
    for (int i = 0; i < 3; ++i) {
        if (path == kStandard[i]) return OwnDescriptor{i, ""};
    }
    bool is_own = take_prefix(path, "/dev/fd/") || take_prefix(path, "/proc/self/fd/") ||
                  take_prefix(path, "/proc/thread-self/fd/");
    if (!is_own) {
        Process process;
        if (!path.starts_with("/proc/") || !read_process(caller.thread(), process)) return std::nullopt;
        is_own = take_prefix(path, "/proc/" + std::to_string(process.group) + "/fd/") ||
                 take_prefix(path, "/proc/" + std::to_string(caller.thread()) + "/fd/");
    }
    std::optional<int> number = is_own ? take_number(path) : std::nullopt;
    return number ? std::optional(OwnDescriptor{*number, path}) : std::nullopt;
}

int describe(Object& object) {
    char text[PATH_MAX + 1];
    ssize_t length = ::readlink(object.name().c_str(), text, sizeof text);
    if (length < 0) return errno;
    if (length > PATH_MAX) return ENAMETOOLONG;
    object.path.assign(text, static_cast<size_t>(length));
    struct stat status;
    if (::fstat(object.descriptor.get(), &status) != 0) return errno;
    // "pipe:[123]". A file can be named "x (deleted)", so check the link count as well.
    bool is_nameless =
        !object.path.starts_with('/') || (status.st_nlink == 0 && object.path.ends_with(kDeleted));
    if (is_nameless) object.path.clear();
    return 0;
}

int open_directory(const Caller& caller, int number, base::Fd& directory) {
    if (number != AT_FDCWD) return caller.take_descriptor(number, directory);
    directory = base::Fd(::open(caller.file("cwd").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    return directory ? 0 : errno;
}

// Threat: in another mount namespace the same path can lead to another file.
bool is_the_same_here(const Object& object) {
    base::Fd here(open_from(AT_FDCWD, object.path, O_NOFOLLOW, RESOLVE_NO_SYMLINKS));
    struct stat one, other;
    return here && ::fstat(here.get(), &one) == 0 && ::fstat(object.descriptor.get(), &other) == 0 &&
           one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

bool is_at_or_below(std::string_view path, std::string_view place) {
    if (place == "/") return true;
    return path.starts_with(place) && (path.size() == place.size() || path[place.size()] == '/');
}

}  // namespace

std::optional<int> own_descriptor(const Caller& caller, const std::string& path) {
    std::optional<OwnDescriptor> own = as_own_descriptor(caller, path);
    return own ? std::optional(own->number) : std::nullopt;
}

int open_object(const Caller& caller, int descriptor, Object& object) {
    if (int number = caller.take_descriptor(descriptor, object.descriptor); number != 0) return number;
    return describe(object);
}

int open_object(const Caller& caller, const Reference& reference, Object& object) {
    if (reference.path.empty()) return ENOENT;
    if (!caller.is_like_us()) return EPERM;
    std::string path = reference.path;
    base::Fd directory;
    if (std::optional<OwnDescriptor> own = as_own_descriptor(caller, path)) {
        if (int number = caller.take_descriptor(own->number, directory); number != 0)
            return number == EBADF ? ENOENT : number;
        if (own->rest.empty()) {
            object.descriptor = std::move(directory);
            return describe(object);
        }
        path = std::string(own->rest.substr(std::min(own->rest.find_first_not_of('/'), own->rest.size())));
        if (path.empty()) path = ".";
    } else if (!path.starts_with('/')) {
        if (int number = open_directory(caller, reference.directory, directory); number != 0) return number;
    }
    object.descriptor = base::Fd(open_from(directory ? directory.get() : AT_FDCWD, path,
                                           reference.follows ? 0 : O_NOFOLLOW, RESOLVE_NO_MAGICLINKS));
    return object.descriptor ? describe(object) : errno;
}

bool lies_within(const Object& object, const std::vector<std::string>& places) {
    return std::ranges::any_of(
               places, [&](const std::string& place) { return is_at_or_below(object.path, place); }) &&
           is_the_same_here(object);
}

namespace {

constexpr size_t kLongestValue = 65536;  // XATTR_SIZE_MAX
constexpr size_t kLongestName = 256;     // XATTR_NAME_MAX and its end

// Everything that the call says besides which object it means, copied out of the caller's memory.
struct Act {
    uint32_t mode = 0;
    uid_t user = 0;
    gid_t group = 0;
    std::optional<std::array<struct timespec, 2>> times;  // none: now
    std::string attribute;
    std::string value;
    int flags = 0;
    off_t length = 0;
};

int result_of(int returned) {
    return returned == 0 ? 0 : errno;
}

int change_mode(const Object& object, const Act& act) {
    return result_of(::chmod(object.name().c_str(), act.mode));
}
int change_owner(const Object& object, const Act& act) {
    return result_of(::fchownat(object.descriptor.get(), "", act.user, act.group, AT_EMPTY_PATH));
}
int change_times(const Object& object, const Act& act) {
    return result_of(
        ::utimensat(AT_FDCWD, object.name().c_str(), act.times ? act.times->data() : nullptr, 0));
}
int set_attribute(const Object& object, const Act& act) {
    return result_of(::setxattr(object.name().c_str(), act.attribute.c_str(), act.value.data(),
                                act.value.size(), act.flags));
}
int remove_attribute(const Object& object, const Act& act) {
    return result_of(::removexattr(object.name().c_str(), act.attribute.c_str()));
}
int change_length(const Object& object, const Act& act) {
    return result_of(::truncate(object.name().c_str(), act.length));
}

int read_mode(const Caller& caller, int at, Act& act) {
    act.mode = static_cast<uint32_t>(caller.number(at)) & 07777;
    return 0;
}

int read_owner(const Caller& caller, int at, Act& act) {
    act.user = static_cast<uid_t>(caller.number(at));
    act.group = static_cast<gid_t>(caller.number(at + 1));
    return 0;
}

int read_times(const Caller& caller, int at, Act& act) {
    uint64_t address = caller.argument(at);
    if (address == 0) return 0;
    act.times.emplace();
    return caller.read_memory(address, act.times->data(), sizeof *act.times);
}

// utimes and futimesat count in microseconds, utime in seconds.
int read_old_times(const Caller& caller, int at, Act& act) {
    uint64_t address = caller.argument(at);
    if (address == 0) return 0;
    act.times.emplace();
    if (caller.call() == kUtime) {
        struct utimbuf seconds;
        int number = caller.read_memory(address, &seconds, sizeof seconds);
        *act.times = {{{seconds.actime, 0}, {seconds.modtime, 0}}};
        return number;
    }
    std::array<struct timeval, 2> fine = {};
    if (int number = caller.read_memory(address, fine.data(), sizeof fine); number != 0) return number;
    for (size_t i = 0; i < 2; ++i) {
        if (fine[i].tv_usec < 0 || fine[i].tv_usec >= 1'000'000) return EINVAL;
        (*act.times)[i] = {fine[i].tv_sec, fine[i].tv_usec * 1000};
    }
    return 0;
}

int read_attribute_name(const Caller& caller, int at, Act& act) {
    int number = caller.read_text(caller.argument(at), kLongestName, act.attribute);
    if (number == ENAMETOOLONG || (number == 0 && act.attribute.empty())) return ERANGE;
    return number;
}

int read_attribute(const Caller& caller, int at, Act& act) {
    if (int number = read_attribute_name(caller, at, act); number != 0) return number;
    if (caller.argument(at + 2) > kLongestValue) return E2BIG;
    act.value.resize(caller.argument(at + 2));
    act.flags = caller.number(at + 3);
    return caller.read_memory(caller.argument(at + 1), act.value.data(), act.value.size());
}

int read_length(const Caller& caller, int at, Act& act) {
    act.length = static_cast<off_t>(caller.argument(at));
    return 0;
}

// How a call names its object: the place of each argument, -1 where it has none.
struct AttributeRow {
    int call;
    int descriptor;  // the object itself where there is no path, else the directory that the path starts from
    int path;
    int flags;  // AT_SYMLINK_NOFOLLOW, AT_EMPTY_PATH
    bool follows;
    int rest;  // where the arguments that `read` takes begin
    int (*read)(const Caller&, int, Act&);
    int (*carry_out)(const Object&, const Act&);
};
constexpr AttributeRow kRows[] = {
    {kChmod, -1, 0, -1, true, 1, read_mode, change_mode},
    {SYS_fchmod, 0, -1, -1, true, 1, read_mode, change_mode},
    {SYS_fchmodat, 0, 1, -1, true, 2, read_mode, change_mode},
    {kFchmodat2, 0, 1, 3, true, 2, read_mode, change_mode},
    {kChown, -1, 0, -1, true, 1, read_owner, change_owner},
    {kLchown, -1, 0, -1, false, 1, read_owner, change_owner},
    {SYS_fchown, 0, -1, -1, true, 1, read_owner, change_owner},
    {SYS_fchownat, 0, 1, 4, true, 2, read_owner, change_owner},
    {kUtime, -1, 0, -1, true, 1, read_old_times, change_times},
    {kUtimes, -1, 0, -1, true, 1, read_old_times, change_times},
    {kFutimesat, 0, 1, -1, true, 2, read_old_times, change_times},
    {SYS_utimensat, 0, 1, 3, true, 2, read_times, change_times},
    {SYS_setxattr, -1, 0, -1, true, 1, read_attribute, set_attribute},
    {SYS_lsetxattr, -1, 0, -1, false, 1, read_attribute, set_attribute},
    {SYS_fsetxattr, 0, -1, -1, true, 1, read_attribute, set_attribute},
    {SYS_removexattr, -1, 0, -1, true, 1, read_attribute_name, remove_attribute},
    {SYS_lremovexattr, -1, 0, -1, false, 1, read_attribute_name, remove_attribute},
    {SYS_fremovexattr, 0, -1, -1, true, 1, read_attribute_name, remove_attribute},
    {SYS_truncate, -1, 0, -1, true, 1, read_length, change_length},
};

// Calls on an O_PATH descriptor fail, except those with AT_EMPTY_PATH.
int open_by_descriptor(const Caller& caller, int descriptor, bool takes_any, Object& object) {
    if (int number = open_object(caller, descriptor, object); number != 0) return number;
    int flags = ::fcntl(object.descriptor.get(), F_GETFL);
    return !takes_any && flags >= 0 && (flags & O_PATH) ? EBADF : 0;
}

int open_named(const Caller& caller, const AttributeRow& row, Object& object) {
    if (row.path < 0) return open_by_descriptor(caller, caller.number(row.descriptor), false, object);
    int flags = row.flags < 0 ? 0 : caller.number(row.flags);
    if (flags & ~(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH)) return EINVAL;
    // utimensat(descriptor, nullptr, …) and futimesat are about the descriptor.
    bool takes_none = row.call == SYS_utimensat || row.call == kFutimesat;
    if (takes_none && caller.argument(row.path) == 0)
        return flags != 0 ? EINVAL : open_by_descriptor(caller, caller.number(row.descriptor), false, object);
    Reference reference;
    reference.follows = row.follows && !(flags & AT_SYMLINK_NOFOLLOW);
    if (row.descriptor >= 0) reference.directory = caller.number(row.descriptor);
    int number = caller.read_text(caller.argument(row.path), PATH_MAX, reference.path);
    // Since Linux 6.11 an empty path may be written as a null pointer.
    bool is_null = number != 0 && caller.argument(row.path) == 0;
    if ((flags & AT_EMPTY_PATH) && (is_null || (number == 0 && reference.path.empty()))) {
        if (reference.directory != AT_FDCWD)
            return open_by_descriptor(caller, reference.directory, true, object);
        reference.path = ".";
        number = 0;
    }
    return number != 0 ? number : open_object(caller, reference, object);
}

}  // namespace

Answer answer_attributes(const Caller& caller, const AnsweredCalls& calls) {
    for (const AttributeRow& row : kRows) {
        if (row.call != caller.call()) continue;
        Act act;
        Object object;
        int number = row.read(caller, row.rest, act);
        if (number == 0) number = open_named(caller, row, object);
        if (number == 0 && !caller.is_like_us()) number = EPERM;
        if (number != 0 || !caller.is_waiting()) return Answer::of(number);
        bool is_granted = object.path.empty() || lies_within(object, calls.changeable);
        return Answer::of(is_granted ? row.carry_out(object, act) : EPERM);
    }
    return Answer::of(ENOSYS);
}

}  // namespace doorman
