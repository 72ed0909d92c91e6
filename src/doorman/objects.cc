// SPDX-License-Identifier: MIT
#include "doorman/objects.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <optional>

#include "base/parse.h"
#include "doorman/calls.h"
#include "doorman/processes.h"

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

}  // namespace doorman
