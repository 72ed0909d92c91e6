// SPDX-License-Identifier: MIT
// Theory of operation. Two upper directories over one lower directory differ only at names that one of them
// has. So the walk visits these names, works out what the checkpoint shows there, and makes that through the
// mount. Below a directory that hides the lower one, in either of them, it visits every name, and in a clone
// everywhere.
//
// Threat: a name of the overlay that something is mounted on, such as a mask, can be removed from outside the
// jail's mount namespace, and the kernel then removes the mount with it. So the walk leaves such a name
// alone. A directory of the overlay that is mounted on itself, because a mask is below it, stays and is
// entered.
#include "layers/checkpoints/restore.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/text.h"
#include "layers/tree.h"

namespace layers {
namespace {

constexpr const char* kTemporary = ".agent-sandbox-rollback";

base::Error restore_failed(const std::string& path, int number) {
    return base::system_error("restore " + (path.empty() ? "the project" : base::printable(path)), number);
}

bool is_opaque(int root, const std::string& path) {
    base::Fd directory(open_below(root, path, O_RDONLY | O_DIRECTORY));
    std::array<char, 8> value = {};
    return directory &&
           ::fgetxattr(directory.get(), "user.overlay.opaque", value.data(), value.size()) == 1 &&
           value[0] == 'y';
}

bool is_directory(int root, const std::string& path) {
    struct stat status;
    return look(root, path, status) == 0 && S_ISDIR(status.st_mode);
}

class Restore {
  public:
    explicit Restore(const Restoring& restoring) : parts_(restoring) {}

    base::Result<size_t> run() {
        struct statx status;
        if (::statx(parts_.mount, "", AT_EMPTY_PATH, STATX_MNT_ID, &status) != 0)
            return restore_failed("", errno);
        if (!(status.stx_mask & STATX_MNT_ID)) return restore_failed("", EOPNOTSUPP);  // needs Linux 5.8
        struct stat mount;
        if (::fstat(parts_.mount, &mount) != 0) return restore_failed("", errno);
        device_ = mount.st_dev;
        struct stat root;
        if (int number = look(parts_.checkpoint, "", root); number != 0) return restore_failed("", number);
        const Level level{.path = "",
                          .is_in_checkpoint = true,
                          .shows_lower = parts_.project >= 0,
                          .is_in_upper = parts_.upper >= 0,
                          .visits_all = parts_.upper < 0};
        if (base::Status restored = restore_directory(level, root); !restored) return restored.error();
        return count_;
    }

  private:
    struct Level {
        std::string path;
        bool is_in_checkpoint;  // as a directory
        bool shows_lower;       // at the checkpoint
        bool is_in_upper;       // as a directory, now
        bool visits_all;
    };

    // What the checkpoint shows at a name.
    struct Wanted {
        int root = -1;  // -1: nothing
        struct stat status = {};
    };

    Wanted wanted_at(const Level& level, const std::string& path) const {
        Wanted wanted;
        if (level.is_in_checkpoint && look(parts_.checkpoint, path, wanted.status) == 0) {
            wanted.root = is_whiteout(wanted.status) ? -1 : parts_.checkpoint;
        } else if (level.shows_lower && look(parts_.project, path, wanted.status) == 0) {
            wanted.root = parts_.project;
        }
        return wanted;
    }

    // ---- The mounted overlay, with the mounts below it

    int open_here(const std::string& path, int flags) const {
        struct open_how how = {};
        how.flags = static_cast<uint64_t>(flags | O_CLOEXEC);
        how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
        long fd = ::syscall(SYS_openat2, parts_.mount, path.empty() ? "." : path.c_str(), &how, sizeof how);
        return fd < 0 ? -errno : static_cast<int>(fd);
    }

    Place place_here(const std::string& path) const {
        Place place;
        place.directory = base::Fd(open_here(parent_of(path), O_PATH | O_DIRECTORY));
        place.error = place.directory ? 0 : -place.directory.get();
        place.name = base::base_name(path);
        return place;
    }

    base::Status set_mode_here(const std::string& path, mode_t mode) const {
        base::Fd directory(open_here(path, O_PATH | O_DIRECTORY));
        if (!directory) return restore_failed(path, -directory.get());
        const std::string name = base::format("/proc/self/fd/{}", directory.get());
        return ::chmod(name.c_str(), mode) == 0 ? base::success() : base::Status(restore_failed(path, errno));
    }

    base::Result<std::vector<std::string>> names_here(const std::string& path) const {
        base::Fd directory(open_here(path, O_RDONLY | O_DIRECTORY));
        if (!directory) return restore_failed(path, -directory.get());
        return names_in(directory.get(), "");
    }

    enum class Cover { none, pin, other };

    Cover cover_at(const Place& place) const {
        struct statx above, here;
        const int directory = place.directory.get();
        bool is_known = ::statx(directory, "", AT_EMPTY_PATH, STATX_MNT_ID, &above) == 0 &&
                        ::statx(directory, place.name.c_str(), AT_SYMLINK_NOFOLLOW, STATX_MNT_ID, &here) == 0;
        if (!is_known || above.stx_mnt_id == here.stx_mnt_id) return Cover::none;
        base::Fd opened(
            ::openat(directory, place.name.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
        struct stat status;
        struct statvfs mount;
        bool is_pin = opened && ::fstat(opened.get(), &status) == 0 && status.st_dev == device_ &&
                      ::fstatvfs(opened.get(), &mount) == 0 && (mount.f_flag & ST_RDONLY) == 0;
        return is_pin ? Cover::pin : Cover::other;
    }

    // ---- The walk

    base::Status restore(const Level& level, const std::string& name) {
        const std::string path = join(level.path, name);
        const Place place = place_here(path);
        if (place.error != 0) return restore_failed(path, place.error);
        const Cover cover = cover_at(place);
        if (cover == Cover::other) return base::success();
        const Wanted wanted = wanted_at(level, path);
        struct stat now;
        bool exists = ::fstatat(place.directory.get(), place.name.c_str(), &now, AT_SYMLINK_NOFOLLOW) == 0;
        if (wanted.root < 0) return exists ? remove(path) : base::success();
        if (S_ISDIR(wanted.status.st_mode)) {
            bool is_new = !exists || !S_ISDIR(now.st_mode);
            if (exists && is_new) {
                if (base::Status removed = remove(path); !removed) return removed;
            }
            if (is_new && ::mkdirat(place.directory.get(), place.name.c_str(), 0700) != 0)
                return restore_failed(path, errno);
            count_ += is_new ? 1 : 0;
            const Level below = level_below(level, path, wanted.root == parts_.checkpoint, is_new);
            return restore_directory(below, wanted.status);
        }
        if (exists && is_same(path, place, wanted, now)) return base::success();
        if (exists && S_ISDIR(now.st_mode)) {
            if (base::Status removed = remove(path); !removed) return removed;
            if (cover == Cover::pin) return base::success();
        }
        ++count_;
        return put(path, place, wanted);
    }

    Level level_below(const Level& level, const std::string& path, bool is_in_checkpoint, bool is_new) const {
        const bool is_hidden_then = is_in_checkpoint && is_opaque(parts_.checkpoint, path);
        const bool is_in_upper = !is_new && level.is_in_upper && is_directory(parts_.upper, path);
        const bool is_hidden_now = is_in_upper && is_opaque(parts_.upper, path);
        return {.path = path,
                .is_in_checkpoint = is_in_checkpoint,
                .shows_lower = level.shows_lower && !is_hidden_then && is_directory(parts_.project, path),
                .is_in_upper = is_in_upper,
                .visits_all = level.visits_all || is_new || is_hidden_then || is_hidden_now};
    }

    base::Status restore_directory(const Level& level, const struct stat& wanted) {
        // Its owner may have taken the permission to list it away.
        if (base::Status set = set_mode_here(level.path, 0700); !set) return set;
        std::set<std::string> names;
        struct Source {
            bool is_wanted;
            int root;
        };
        for (const Source& source :
             {Source{level.is_in_checkpoint, parts_.checkpoint}, Source{level.is_in_upper, parts_.upper},
              Source{level.visits_all && level.shows_lower, parts_.project}}) {
            base::Result<std::vector<std::string>> some =
                source.is_wanted ? names_in(source.root, level.path) : std::vector<std::string>();
            if (!some) return some.error();
            names.insert(some->begin(), some->end());
        }
        if (level.visits_all) {
            // A directory above a mask is a mount of its own.
            base::Result<std::vector<std::string>> here = names_here(level.path);
            if (!here) return here.error();
            names.insert(here->begin(), here->end());
        }
        for (const std::string& name : names) {
            if (base::Status restored = restore(level, name); !restored) return restored;
        }
        return finish(level.path, wanted);
    }

    base::Status finish(const std::string& path, const struct stat& wanted) const {
        base::Fd directory(open_here(path, O_RDONLY | O_DIRECTORY));
        const struct timespec times[] = {wanted.st_atim, wanted.st_mtim};
        if (directory) (void)::futimens(directory.get(), times);
        return set_mode_here(path, wanted.st_mode & 07777);
    }

    // The project is not ours to change.
    base::Fd open_to_read(const Wanted& wanted, const std::string& path) const {
        constexpr int kFlags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK;
        if (wanted.root != parts_.checkpoint) return base::Fd(open_below(wanted.root, path, kFlags));
        const MadeReadable readable(wanted.root, path, wanted.status);
        return base::Fd(open_below(wanted.root, path, kFlags));
    }

    bool is_same(const std::string& path, const Place& place, const Wanted& wanted,
                 const struct stat& now) const {
        if ((wanted.status.st_mode & S_IFMT) != (now.st_mode & S_IFMT)) return false;
        if (S_ISLNK(now.st_mode)) {
            base::Result<std::string> one = link_target(wanted.root, path);
            base::Result<std::string> other = link_target(place.directory.get(), place.name);
            return one && other && *one == *other;
        }
        if (wanted.status.st_mode != now.st_mode) return false;
        if (!S_ISREG(now.st_mode)) return true;
        if (wanted.status.st_size != now.st_size) return false;
        const base::Fd one = open_to_read(wanted, path);
        base::Fd other(open_below(place.directory.get(), place.name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK));
        if (!one || !other) return false;
        return have_same_bytes(one.get(), other.get()) == 1;
    }

    // Everything below it but what is mounted there, and the directories that lead to it.
    base::Status remove(const std::string& path) {
        const Place place = place_here(path);
        if (place.error != 0) return restore_failed(path, place.error);
        const Cover cover = cover_at(place);
        if (cover == Cover::other) return base::success();
        struct stat now;
        if (::fstatat(place.directory.get(), place.name.c_str(), &now, AT_SYMLINK_NOFOLLOW) != 0)
            return restore_failed(path, errno);
        ++count_;
        if (!S_ISDIR(now.st_mode))
            return ::unlinkat(place.directory.get(), place.name.c_str(), 0) == 0
                       ? base::success()
                       : base::Status(restore_failed(path, errno));
        if (base::Status set = set_mode_here(path, 0700); !set) return set;
        base::Result<std::vector<std::string>> names = names_here(path);
        if (!names) return names.error();
        for (const std::string& name : *names) {
            if (base::Status removed = remove(join(path, name)); !removed) return removed;
        }
        if (cover == Cover::pin) return base::success();
        bool is_removed = ::unlinkat(place.directory.get(), place.name.c_str(), AT_REMOVEDIR) == 0;
        return is_removed || errno == ENOTEMPTY ? base::success() : base::Status(restore_failed(path, errno));
    }

    // As an editor does it: a new file takes the name. Open descriptors keep the old one.
    base::Status put(const std::string& path, const Place& place, const Wanted& wanted) const {
        const int directory = place.directory.get();
        const std::string fresh = unused_name(directory);
        base::Status made = make(path, {directory, fresh.c_str()}, wanted);
        if (made && ::renameat(directory, fresh.c_str(), directory, place.name.c_str()) != 0)
            made = restore_failed(path, errno);
        if (!made) (void)::unlinkat(directory, fresh.c_str(), 0);
        return made;
    }

    // The jail is frozen, so the name stays unused. What a killed rollback has left is not in the checkpoint,
    // and the next rollback removes it.
    static std::string unused_name(int directory) {
        std::string name = kTemporary;
        struct stat status;
        for (unsigned number = 1; ::fstatat(directory, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0;
             ++number)
            name = base::format("{}.{}", kTemporary, number);
        return name;
    }

    struct Fresh {
        int directory;
        const char* name;
    };

    base::Status make(const std::string& path, const Fresh& fresh, const Wanted& wanted) const {
        const struct timespec times[] = {wanted.status.st_atim, wanted.status.st_mtim};
        if (S_ISLNK(wanted.status.st_mode)) {
            base::Result<std::string> target = link_target(wanted.root, path);
            if (!target) return target.error();
            if (::symlinkat(target->c_str(), fresh.directory, fresh.name) != 0)
                return restore_failed(path, errno);
            (void)::utimensat(fresh.directory, fresh.name, times, AT_SYMLINK_NOFOLLOW);
            return base::success();
        }
        if (!S_ISREG(wanted.status.st_mode))
            return ::mknodat(fresh.directory, fresh.name, wanted.status.st_mode, 0) == 0
                       ? base::success()
                       : base::Status(restore_failed(path, errno));
        const base::Fd from = open_to_read(wanted, path);
        if (!from) return restore_failed(path, -from.get());
        base::Fd to(::openat(fresh.directory, fresh.name,
                             O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
        if (!to) return restore_failed(path, errno);
        int number = copy_bytes(from.get(), to.get(), static_cast<uint64_t>(wanted.status.st_size));
        if (number == 0) number = copy_attributes(from.get(), to.get());
        if (number == 0 && ::fchmod(to.get(), wanted.status.st_mode & 07777) != 0) number = errno;
        if (number == 0 && ::futimens(to.get(), times) != 0) number = errno;
        return number == 0 ? base::success() : base::Status(restore_failed(path, number));
    }

    const Restoring& parts_;
    dev_t device_ = 0;  // of the overlay
    size_t count_ = 0;
};

}  // namespace

base::Result<size_t> restore_through(const Restoring& restoring) {
    return Restore(restoring).run();
}

}  // namespace layers
