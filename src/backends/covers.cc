// SPDX-License-Identifier: MIT
#include "backends/covers.h"

#include <fcntl.h>
#include <linux/nsfs.h>
#include <linux/stat.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "backends/holders.h"
#include "backends/native/mount_calls.h"
#include "base/file.h"
#include "base/inside/jail_files.h"
#include "base/no_links.h"
#include "base/text.h"

namespace backends {
namespace {

using plan::Mount;
using plan::MountKind;

bool makes_mount(MountKind kind, const Layer& layer) {
    switch (kind) {
        case MountKind::bind_readonly:
        case MountKind::bind_writable:
        case MountKind::overlay:
        case MountKind::bind_device:
        case MountKind::tmpfs:
        case MountKind::private_file:
        case MountKind::empty_file:
        case MountKind::proc:
        case MountKind::queues:
        case MountKind::helper_socket:
        case MountKind::dev:
            return true;
        case MountKind::file:
            return shows_host(layer);
        case MountKind::directory:
        case MountKind::symlink:
        case MountKind::held_link:
        case MountKind::seal:
            return false;
    }
    return false;
}

// Calls `look` with the path and each of its ancestors up to the root: a thousand mounts must not become a
// million comparisons.
template <typename Look>
void climb(std::string_view path, Look look) {
    while (true) {
        look(path);
        if (path.size() <= 1) return;
        size_t slash = path.rfind('/');
        path = path.substr(0, slash == 0 ? 1 : slash);
    }
}

void look_below(const std::vector<Mount>& mounts, std::vector<Layer>& layers) {
    std::unordered_map<std::string_view, size_t> latest;  // target → index of the last mount there
    for (size_t i = 0; i < mounts.size(); ++i) {
        std::optional<size_t> ground;
        climb(mounts[i].target.str(), [&](std::string_view path) {
            auto found = latest.find(path);
            if (found == latest.end()) return;
            // A mount hides those that were made inside its target before it: the latest one is visible.
            if (!ground || found->second > *ground) ground = found->second;
            const MountKind kind = mounts[found->second].kind;
            if (kind == MountKind::bind_writable || kind == MountKind::overlay)
                layers[i].is_in_writable = true;
        });
        layers[i].ground_index = ground;
        if (ground) layers[i].ground = mounts[*ground].kind;
        if (makes_mount(mounts[i].kind, layers[i])) latest[mounts[i].target.str()] = i;
    }
}

void look_above(const std::vector<Mount>& mounts, std::vector<Layer>& layers) {
    std::unordered_set<std::string_view> later, sealed;
    for (size_t i = mounts.size(); i-- > 0;) {
        std::string_view target = mounts[i].target.str();
        climb(target, [&](std::string_view path) { layers[i].is_covered |= later.contains(path); });
        layers[i].is_sealed = sealed.contains(target);
        if (makes_mount(mounts[i].kind, layers[i])) later.insert(target);
        if (mounts[i].kind == MountKind::seal) sealed.insert(target);
    }
}

}  // namespace

bool shows_host(const Layer& layer) {
    return layer.ground == MountKind::bind_readonly || layer.ground == MountKind::bind_writable ||
           layer.ground == MountKind::bind_device || layer.ground == MountKind::overlay;
}

std::vector<Layer> layers_of(const std::vector<Mount>& mounts) {
    std::vector<Layer> layers(mounts.size());
    look_below(mounts, layers);
    look_above(mounts, layers);
    return layers;
}

namespace {

using plan::Mount;
using plan::MountKind;

// A cover whose source is elsewhere on the host can't be mounted again: no path in the jail leads there.
std::optional<Cover::Kind> kind_of(const Mount& mount, const Layer& layer, const base::Path& outside,
                                   std::string_view our_program) {
    switch (mount.kind) {
        case MountKind::bind_readonly:
            if (mount.source == our_program) return Cover::Kind::our_program;
            return mount.source == outside.str() ? std::optional(Cover::Kind::readonly) : std::nullopt;
        case MountKind::bind_writable:
            return mount.source == outside.str() ? std::optional(Cover::Kind::writable) : std::nullopt;
        // The plan mounts a changed copy to hide the file itself.
        case MountKind::private_file:
        case MountKind::file:
        case MountKind::empty_file:
            return Cover::Kind::nothing;
        case MountKind::tmpfs:
            return layer.is_sealed ? std::optional(Cover::Kind::nothing) : std::nullopt;
        case MountKind::overlay:
        case MountKind::bind_device:
        case MountKind::directory:
        case MountKind::symlink:
        case MountKind::proc:
        case MountKind::dev:
        case MountKind::queues:
        case MountKind::helper_socket:
        case MountKind::held_link:
        case MountKind::seal:
            return std::nullopt;
    }
    return std::nullopt;
}

}  // namespace

std::vector<Cover> covers_of(const plan::Plan& plan) {
    std::vector<Cover> covers;
    const std::vector<Layer> layers = layers_of(plan.mounts);
    const base::Path own = base::Path::known(base::kOwnDirectory) / base::kOwnProgram;
    auto program = std::ranges::find(plan.mounts, own, &Mount::target);
    const std::string_view our_program = program != plan.mounts.end() ? program->source : std::string_view();
    for (size_t i = 0; i < plan.mounts.size(); ++i) {
        const Mount& mount = plan.mounts[i];
        if (!shows_host(layers[i]) || layers[i].is_covered || mount.target == own) continue;
        const Mount& ground = plan.mounts[*layers[i].ground_index];
        // A mount on a name of an overlay stays when the file below is replaced outside.
        if (plan.is_layered && mount.target.is_strictly_within(plan.project)) continue;
        base::Result<base::Path> source = base::Path::parse(ground.source);
        if (!source || mount.target == ground.target) continue;
        const base::Path outside = *source / mount.target.relative_to(ground.target);
        if (std::optional<Cover::Kind> kind = kind_of(mount, layers[i], outside, our_program))
            covers.push_back({mount.target, outside, *kind});
    }
    return covers;
}

// Theory of operation. The user that made a jail's user namespace has, outside of it, every capability in it.
// So a process of this user outside can change the jail's mounts, and no process inside can. After it has
// entered, it has no /proc of its own and sees of the host only what the jail shows. It mounts a cover onto
// the open file that it found, without following links, and then checks the name again, because another
// process may have replaced it once more.

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

// The jail's mounts, which this process has entered. A descriptor of its own: the caller closes its one.
base::Fd g_entered;
// The process left the jail's mounts and could not come back: it must not take covers for effective that it
// lays elsewhere.
bool g_is_astray = false;

base::Fd new_memory(uint64_t attributes) {
    base::Fd context(static_cast<int>(::syscall(SYS_fsopen, "tmpfs", FSOPEN_CLOEXEC)));
    ::syscall(SYS_fsconfig, context.get(), FSCONFIG_SET_STRING, "mode", "0755", 0);
    if (::syscall(SYS_fsconfig, context.get(), FSCONFIG_CMD_CREATE, nullptr, nullptr, 0) != 0) return {};
    return base::Fd(static_cast<int>(::syscall(SYS_fsmount, context.get(), FSMOUNT_CLOEXEC, attributes)));
}

// The flags for mount(2): those wanted, and those that the mount has, which may be locked.
unsigned long remount_flags(int tree, uint64_t attributes) {
    struct statvfs status = {};
    (void)::fstatvfs(tree, &status);
    const std::pair<bool, unsigned long> kFlags[] = {
        {(attributes & MOUNT_ATTR_RDONLY) != 0 || (status.f_flag & ST_RDONLY) != 0, MS_RDONLY},
        {(attributes & MOUNT_ATTR_NOSUID) != 0 || (status.f_flag & ST_NOSUID) != 0, MS_NOSUID},
        {(attributes & MOUNT_ATTR_NODEV) != 0 || (status.f_flag & ST_NODEV) != 0, MS_NODEV},
        {(status.f_flag & ST_NOEXEC) != 0, MS_NOEXEC},
        {(status.f_flag & ST_NOATIME) != 0, MS_NOATIME},
        {(status.f_flag & ST_NODIRATIME) != 0, MS_NODIRATIME},
        {(status.f_flag & ST_RELATIME) != 0, MS_RELATIME}};
    unsigned long flags = MS_REMOUNT | MS_BIND;
    for (const auto& [is_wanted, flag] : kFlags) {
        if (is_wanted) flags |= flag;
    }
    return flags;
}

// Puts the tree into a mount namespace that only this process has, and changes it there by its path: no
// process of the jail can exchange the path meanwhile. Returns a copy with the attributes.
base::Fd change_by_path(const base::Fd& tree, uint64_t attributes) {
    constexpr const char* kMemory = "/dev";
    struct stat status;
    base::Fd memory = new_memory(kWritable);
    if (!memory || ::fstat(tree.get(), &status) != 0) return {};
    const bool is_directory = S_ISDIR(status.st_mode);
    const char* name = is_directory ? "directory" : "file";
    const std::string path = base::format("{}/{}", kMemory, name);
    if (native::move_mount(memory.get(), "", AT_FDCWD, kMemory, MOVE_MOUNT_F_EMPTY_PATH) != 0) return {};
    if (is_directory) {
        ::mkdirat(memory.get(), name, 0700);
    } else {
        base::Fd(::openat(memory.get(), name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    }
    if (native::move_mount(tree.get(), "", memory.get(), name, MOVE_MOUNT_F_EMPTY_PATH) != 0) return {};
    const unsigned long flags = remount_flags(tree.get(), attributes);
    if (::mount(nullptr, path.c_str(), nullptr, flags, nullptr) != 0) return {};
    return base::Fd(native::open_tree(AT_FDCWD, path.c_str(), kCopied));
}

// Before Linux 5.12 a mount without a path can't be changed.
base::Fd set_attributes_apart(const base::Fd& tree, uint64_t attributes) {
    if (::unshare(CLONE_NEWNS) != 0) return {};
    base::Fd changed = change_by_path(tree, attributes);
    g_is_astray = ::setns(g_entered.get(), CLONE_NEWNS) != 0;
    return g_is_astray ? base::Fd() : std::move(changed);
}

base::Fd set_attributes(base::Fd tree, uint64_t attributes) {
    struct mount_attr wanted = {};
    wanted.attr_set = attributes;
    unsigned flags = static_cast<unsigned>(AT_EMPTY_PATH) | native::kRecursive;
    if (!tree) return {};
    if (native::mount_setattr(tree.get(), "", flags, &wanted, sizeof wanted) == 0) return tree;
    const bool is_missing = errno == ENOSYS || errno == EPERM;
    return is_missing ? set_attributes_apart(tree, attributes) : base::Fd();
}

base::Fd copy_of(int directory, const char* path, unsigned flags, uint64_t attributes) {
    return set_attributes(base::Fd(native::open_tree(directory, path, kCopied | flags)), attributes);
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
    if (g_is_astray || ::fstat(place, &status) != 0) return {};
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
            return S_ISDIR(status.st_mode) ? new_memory(kReadonly)
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
                       .index = index,
                       .open = base::Fd(::fcntl(place, F_DUPFD_CLOEXEC, 3))});
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
    g_entered = base::Fd(::fcntl(mount_namespace, F_DUPFD_CLOEXEC, 3));
    return owner && g_entered && ::setns(owner.get(), CLONE_NEWUSER) == 0 &&
           ::setns(mount_namespace, CLONE_NEWNS) == 0;
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
