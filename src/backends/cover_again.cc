// SPDX-License-Identifier: MIT
// Theory of operation. The user that made a jail's user namespace has, outside of it, every capability in it.
// So a process of this user outside can change the jail's mounts, and no process inside can. After it has
// entered, it has no /proc of its own and sees of the host only what the jail shows. It mounts a cover onto
// the open file that it found, without following links, and then checks the name again, because another
// process may have replaced it once more.
#include "backends/cover_again.h"

#include <fcntl.h>
#include <linux/nsfs.h>
#include <linux/stat.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>

#include "backends/holders.h"
#include "backends/native/mount_calls.h"
#include "base/file.h"
#include "base/format.h"
#include "base/inside/paths_inside.h"
#include "base/no_links.h"
#include "base/text.h"

namespace backends {
namespace {

constexpr unsigned kCopied = OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | native::kRecursive;
constexpr unsigned kOntoDescriptor = MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH;
constexpr uint64_t kWritable = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;
constexpr uint64_t kReadonly = kWritable | MOUNT_ATTR_RDONLY;
// How often in a row another process may replace the file between two of our calls.
constexpr int kReplacements = 20;
// Reads as empty and stores nothing. A file of our own would have to be mounted before it can be copied, and
// unmounting it takes the kernel longer than everything else.
constexpr const char* kNothing = "/dev/null";

base::Fd set_attributes(base::Fd tree, uint64_t attributes) {
    struct mount_attr wanted = {};
    wanted.attr_set = attributes;
    unsigned flags = static_cast<unsigned>(AT_EMPTY_PATH) | native::kRecursive;
    bool is_set = tree && native::mount_setattr(tree.get(), "", flags, &wanted, sizeof wanted) == 0;
    return is_set ? std::move(tree) : base::Fd();
}

base::Fd copy_of(int directory, const char* path, unsigned flags, uint64_t attributes) {
    return set_attributes(base::Fd(native::open_tree(directory, path, kCopied | flags)), attributes);
}

base::Fd new_memory() {
    base::Fd context(static_cast<int>(::syscall(SYS_fsopen, "tmpfs", FSOPEN_CLOEXEC)));
    ::syscall(SYS_fsconfig, context.get(), FSCONFIG_SET_STRING, "mode", "0755", 0);
    if (::syscall(SYS_fsconfig, context.get(), FSCONFIG_CMD_CREATE, nullptr, nullptr, 0) != 0) return {};
    return base::Fd(static_cast<int>(::syscall(SYS_fsmount, context.get(), FSMOUNT_CLOEXEC, kWritable)));
}

enum class State { covered, bare, absent, unknown };

State state_of(int place) {
    if (place == -ENOENT || place == -ENOTDIR) return State::absent;
    if (place < 0) return State::bare;
    struct statx status = {};
    if (::statx(place, "", AT_EMPTY_PATH, 0, &status) != 0) return State::unknown;
    if ((status.stx_attributes_mask & STATX_ATTR_MOUNT_ROOT) == 0) return State::unknown;
    return (status.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0 ? State::covered : State::bare;
}

base::Fd cover_for(Cover::Kind kind, int place) {
    struct stat status;
    if (::fstat(place, &status) != 0) return {};
    switch (kind) {
        case Cover::Kind::readonly:
            return copy_of(place, "", AT_EMPTY_PATH, kReadonly);
        case Cover::Kind::writable:
            return copy_of(place, "", AT_EMPTY_PATH, kWritable);
        case Cover::Kind::our_program:
            if (!S_ISDIR(status.st_mode)) {
                const base::Path own = base::Path::known(base::kOwnDirectory) / base::kOwnProgram;
                return copy_of(AT_FDCWD, own.c_str(), 0, kReadonly);
            }
            [[fallthrough]];
        case Cover::Kind::nothing:
            // No MOUNT_ATTR_NODEV: /dev/null must work as a device.
            return S_ISDIR(status.st_mode) ? set_attributes(new_memory(), kReadonly)
                                           : copy_of(AT_FDCWD, kNothing, 0, MOUNT_ATTR_RDONLY);
    }
    return {};
}

// Records what a process could have opened through the uncovered name `place`. A mount that only keeps a name
// hides nothing.
void note_bare(const Cover& cover, int place, size_t index, std::vector<BareObject>& objects) {
    struct statx status = {};
    if (cover.kind == Cover::Kind::writable) return;
    if (::statx(place, "", AT_EMPTY_PATH, STATX_TYPE | STATX_INO | STATX_MNT_ID, &status) != 0) return;
    objects.push_back({.inside = cover.inside,
                       .device = makedev(status.stx_dev_major, status.stx_dev_minor),
                       .inode = status.stx_ino,
                       .mount = status.stx_mnt_id,
                       .is_directory = S_ISDIR(status.stx_mode),
                       .is_secret = cover.kind == Cover::Kind::nothing,
                       .index = index});
}

bool cover(const Cover& cover, size_t index, std::vector<BareObject>& objects) {
    for (int attempt = 0; attempt < kReplacements; ++attempt) {
        base::Fd place(base::open_without_links(cover.inside, O_PATH));
        State state = state_of(place.get());
        if (state != State::bare) return state != State::unknown;
        if (!place) return false;  // a symbolic link can't be covered
        note_bare(cover, place.get(), index, objects);
        base::Fd tree = cover_for(cover.kind, place.get());
        bool is_laid = tree && native::move_mount(tree.get(), "", place.get(), "", kOntoDescriptor) == 0;
        if (!is_laid && errno != ENOENT) return false;
    }
    return false;
}

bool enter(int mount_namespace) {
    ::prctl(PR_SET_DUMPABLE, 0);
    base::Fd owner(::ioctl(mount_namespace, NS_GET_USERNS));
    return owner && ::setns(owner.get(), CLONE_NEWUSER) == 0 && ::setns(mount_namespace, CLONE_NEWNS) == 0;
}

}  // namespace

std::vector<Uncovered> cover_again(int mount_namespace, const std::vector<Cover>& covers) {
    std::vector<Uncovered> uncovered;
    std::vector<BareObject> objects;
    if (!enter(mount_namespace)) return uncovered;
    for (const Cover& one : covers) {
        base::Fd place(base::open_without_links(one.inside, O_PATH));
        if (state_of(place.get()) != State::bare) continue;
        place.reset();
        bool is_covered = cover(one, uncovered.size(), objects);
        uncovered.push_back({.path = one.outside, .is_covered_again = is_covered});
    }
    Holders holders = kill_holders(objects);
    for (const Holder& holder : holders.killed) {
        uncovered[holder.index].killed.push_back(
            base::format("{} ({})", holder.process, base::printable(holder.name)));
    }
    for (const BareObject& object : objects) uncovered[object.index].may_be_held = !holders.is_certain;
    return uncovered;
}

bool enter_mounts(int mount_namespace) {
    return enter(mount_namespace);
}

std::optional<bool> is_mount_point(int place) {
    State state = state_of(place);
    if (state == State::unknown) return std::nullopt;
    return state == State::covered;
}

bool lay_cover(Cover::Kind kind, int place) {
    base::Fd tree = cover_for(kind, place);
    return tree && native::move_mount(tree.get(), "", place, "", kOntoDescriptor) == 0;
}

}  // namespace backends
