// SPDX-License-Identifier: MIT
// Theory of operation. The table has a line for each mount, with its mount point and its flags. The step that
// made a mount determines its new flags: the last step with this target, or, for a mount that came with a
// tree, the bind that contains it. Flags are only added. The existing ones are passed again, because the
// kernel replaces the whole set and refuses to clear one that the host had set.
#include "backends/native/remount_after_clone.h"

#include <fcntl.h>
#include <linux/mount.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstring>

#include "backends/native/mount_calls.h"
#include "backends/native/mount_table.h"

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

#ifndef MS_NOSYMFOLLOW  // Linux 5.10
#define MS_NOSYMFOLLOW 256
#endif

namespace backends::native {
namespace {

struct Flag {
    const char* word;  // in the table
    unsigned long flag;
    uint64_t attribute;
};
constexpr Flag kFlags[] = {
    {"ro", MS_RDONLY, MOUNT_ATTR_RDONLY},
    {"nosuid", MS_NOSUID, MOUNT_ATTR_NOSUID},
    {"nodev", MS_NODEV, MOUNT_ATTR_NODEV},
    {"noexec", MS_NOEXEC, MOUNT_ATTR_NOEXEC},
    {"noatime", MS_NOATIME, 0},
    {"nodiratime", MS_NODIRATIME, 0},
    {"relatime", MS_RELATIME, 0},
    {"nosymfollow", MS_NOSYMFOLLOW, 0},
};

bool makes_mount(Act act) {
    return act == Act::mount_bind || act == Act::mount_copy || act == Act::mount_content ||
           act == Act::mount_new || act == Act::mount_link || act == Act::mount_overlay;
}

bool has_word(const char* options, const char* word) {
    size_t length = std::strlen(word);
    for (const char* at = options; *at != '\0';) {
        size_t part = std::strcspn(at, ",");
        if (part == length && std::memcmp(at, word, length) == 0) return true;
        at += part;
        if (*at == ',') ++at;
    }
    return false;
}

// `place` without its first slash.
bool is_below(const char* place, const char* target) {
    if (std::strcmp(target, ".") == 0) return true;
    size_t length = std::strlen(target);
    return std::strncmp(place, target, length) == 0 && (place[length] == '/' || place[length] == '\0');
}

// The attributes that the mount at this place gets in addition.
uint64_t attributes_for(const Script& script, const char* place) {
    const Step* nearest = nullptr;
    bool is_own = false;
    bool is_sealed = false;
    for (const Step& step : script.steps) {
        if (makes_mount(step.act) && is_below(place, step.target)) {
            nearest = &step;
            is_own = std::strcmp(place, step.target) == 0;
            is_sealed = false;
        } else if (step.act == Act::seal && std::strcmp(*place == '\0' ? "." : place, step.target) == 0) {
            is_sealed = true;
        }
    }
    uint64_t attributes = is_sealed ? MOUNT_ATTR_RDONLY : 0;
    bool decides = nearest != nullptr && (is_own || nearest->act == Act::mount_bind);
    return decides ? attributes | nearest->attributes : attributes;
}

int remount_one(const Script& script, int root, const MountLine& line) {
    const char* place = line.place[0] == '/' ? line.place + 1 : line.place;
    uint64_t wanted = attributes_for(script, place);
    unsigned long flags = 0;
    bool is_new = false;
    for (const Flag& flag : kFlags) {
        bool has = has_word(line.options, flag.word);
        bool needs = (wanted & flag.attribute) != 0;
        if (has || needs) flags |= flag.flag;
        is_new = is_new || (needs && !has);
    }
    if (!is_new) return 0;
    // Threat: if the project changes meanwhile, a link in the path could give these flags to another mount
    // (tests/jail/native_faults.bats).
    int opened = *place == '\0' ? root : open_link_itself(root, place);
    if (opened < 0) return -opened;
    DescriptorPath path(opened);
    int number = mount_call(nullptr, path.text(), nullptr, MS_REMOUNT | MS_BIND | flags, nullptr);
    if (opened != root) ::close(opened);
    return number;
}

}  // namespace

Failure remount(const Script& script, int self, int root) {
    int file = ::openat(self, "mountinfo", O_RDONLY | O_CLOEXEC);
    if (file < 0) return {errno, Phase::step, "the mount table", ""};
    static MountLine line;  // a failure points to it
    MountTable table(file);
    for (;;) {
        int got = table.next(line);
        if (got == 0) break;
        if (got < 0) return {-got, Phase::step, "the mount table", ""};
        // The old root is detached: every line belongs to the new view.
        if (int number = remount_one(script, root, line); number != 0)
            return {number, Phase::step, line.place, ""};
    }
    ::close(file);
    return {};
}

}  // namespace backends::native
