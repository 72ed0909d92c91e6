// SPDX-License-Identifier: MIT
// Theory of operation. The new root is a tmpfs that is mounted over the old one, and every name below it is
// relative to its descriptor. Absolute paths still start at the old root, because a process keeps its root
// until it changes it. So the host's files can be opened by path to the end, whatever is mounted at /tmp or
// elsewhere.
//
// Each mount is a separate tree, copied and changed before it is visible (open_tree, mount_setattr, or both
// in one), and then moved to its place (move_mount): nothing is ever visible with the wrong rights. A place
// in files of the host is opened first, following no link, and the tree is moved onto the descriptor. If the
// file is renamed meanwhile, the mount moves with it.
//
// Without mount_setattr (before Linux 5.12) the rights are set at the end, in one pass over the mount table
// (remount_after_clone.h). No code of the user runs before that.
#include "backends/native/mounts_after_clone.h"

#include <fcntl.h>
#include <linux/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "backends/native/mount_calls.h"
#include "backends/native/remount_after_clone.h"

namespace backends::native {
namespace {

// Files in the new root that are removed before any other process sees them. One that is to be copied keeps
// its name until the root is sealed: the kernel can't copy the mount of a file without a name.
constexpr const char* kContentName = ".content";
constexpr const char* kCopiedName = ".copied";
constexpr mode_t kLeading = 0700;  // of directories that only lead to a mount
// A short script does not close its descriptors: one call closes them with all others.
constexpr size_t kShort = 400;
constexpr unsigned kCopied = OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | kRecursive;
// How often in a row another process may replace the file between two of our calls.
constexpr int kReplacements = 20;

class Builder {
  public:
    explicit Builder(Script& script) : script_(script) {}

    // Zero or errno.
    int open_root() {
        int context = static_cast<int>(::syscall(SYS_fsopen, "tmpfs", FSOPEN_CLOEXEC));
        if (context < 0) return errno;
        ::syscall(SYS_fsconfig, context, FSCONFIG_SET_STRING, "source", "tmpfs", 0);
        ::syscall(SYS_fsconfig, context, FSCONFIG_SET_STRING, "mode", "0755", 0);
        if (::syscall(SYS_fsconfig, context, FSCONFIG_CMD_CREATE, nullptr, nullptr, 0) != 0) return errno;
        root_ = static_cast<int>(
            ::syscall(SYS_fsmount, context, FSMOUNT_CLOEXEC, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV));
        if (root_ < 0) return errno;
        ::close(context);
        if (move_mount(root_, "", AT_FDCWD, "/", MOVE_MOUNT_F_EMPTY_PATH) != 0) return errno;
        return ::fchdir(root_) == 0 ? 0 : errno;
    }

    int carry_out(size_t index) {
        const Step& step = script_.steps[index];
        switch (step.act) {
            case Act::make_directory:
                return ::mkdirat(root_, step.target, step.mode) == 0 || errno == EEXIST ? 0 : errno;
            case Act::make_link:
                return make_link(step);
            case Act::make_file:
                return make_file(step.target, step);
            case Act::mount_bind:
            case Act::mount_copy:
            case Act::mount_content:
                return mount_tree(index);
            case Act::mount_overlay:
                return mount_overlay(index);
            case Act::mount_link:
                return mount_link(step);
            case Act::mount_new:
                return mount_new(index);
            case Act::seal:
                return seal(step);
        }
        return EINVAL;
    }

    // Call it when no step that copies is left.
    void forget_copied() const { ::unlinkat(root_, kCopiedName, 0); }

    int root() const { return root_; }
    bool needs_remount() const { return needs_remount_; }

  private:
    int make_link(const Step& step) const {
        if (::symlinkat(step.source, root_, step.target) == 0) return 0;
        if (errno != EEXIST) return errno;
        char text[4096];
        ssize_t got = ::readlinkat(root_, step.target, text, sizeof text);
        bool is_same = got >= 0 && static_cast<size_t>(got) == std::strlen(step.source) &&
                       std::memcmp(text, step.source, static_cast<size_t>(got)) == 0;
        return is_same ? 0 : EEXIST;
    }

    int make_file(const char* name, const Step& step) const {
        int file = ::openat(root_, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, step.mode);
        if (file < 0) return errno;
        for (size_t written = 0; written < step.length;) {
            ssize_t got = ::write(file, step.source + written, step.length - written);
            if (got < 0 && errno == EINTR) continue;
            if (got < 0) return errno;
            written += static_cast<size_t>(got);
        }
        return ::close(file) == 0 ? 0 : errno;
    }

    // ---- Trees

    // If another process replaces a file by rename, as the administrator's tools do with /etc/passwd, our
    // descriptor leads to a removed file, and the kernel returns ENOENT. The name leads to the new file: try
    // again.
    int mount_tree(size_t index) {
        const Step& step = script_.steps[index];
        int number = try_to_mount_tree(index);
        for (int attempt = 0; number == ENOENT && attempt < kReplacements; ++attempt) {
            if (step.act == Act::mount_content) ::unlinkat(root_, content_name(step), 0);
            number = try_to_mount_tree(index);
        }
        return number;
    }

    int try_to_mount_tree(size_t index) {
        const Step& step = script_.steps[index];
        if (step.is_for_owner && ::faccessat(root_, step.target, W_OK, 0) != 0) return 0;
        int place = step.shows_host ? open_without_links(root_, step.target) : -1;
        bool is_missing = step.shows_host && is_gone(step, place);
        if (is_missing && step.is_optional) return 0;
        // A name of the plan that is made in the layer, and covered there.
        if (is_missing && step.is_in_layer && step.is_in_place && step.makes_place)
            place = open_or_make_without_links(root_, step.target, true, kLeading);
        bool can_be_made = is_missing && step.makes_place && !step.is_in_place;
        if (step.shows_host && place < 0 && !can_be_made) return -place;
        int tree = open_source(step, place);
        if (tree < 0) return -tree;
        if (int number = check_and_make_place(step, tree, place); number != 0) return number;
        int moved = place >= 0
                        ? move_mount(tree, "", place, "", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH)
                        : move_mount(tree, "", root_, step.target, MOVE_MOUNT_F_EMPTY_PATH);
        if (moved != 0) return errno;
        if (step.act == Act::mount_content && !step.is_kept) ::unlinkat(root_, kContentName, 0);
        if (step.is_kept) {
            script_.descriptors[index] = tree;
            tree = -1;
        }
        let_go(tree);
        let_go(place);
        return 0;
    }

    // In a layer another entry may be in place of a directory on the way: then nothing of the project shows.
    static bool is_gone(const Step& step, int place) {
        if (place == -ENOENT) return true;
        return step.is_in_layer && step.is_optional && (place == -ELOOP || place == -ENOTDIR);
    }

    // ---- The overlay

    // Threat: a path with ":" or "," would be read as two directories or as another option, and a directory
    // on the way could be replaced meanwhile. So the kernel gets descriptors.
    int mount_overlay(size_t index) {
        const Step& step = script_.steps[index];
        int lower = open_without_links(AT_FDCWD, step.source);
        if (lower < 0) return -lower;
        struct stat status;
        if (::fstat(lower, &status) != 0) return errno;
        if (step.inode != 0 && status.st_ino != step.inode) return ESTALE;
        int directory = open_without_links(AT_FDCWD, step.options);
        if (directory < 0) return -directory;
        int upper = open_without_links(directory, "upper"), work = open_without_links(directory, "work");
        if (upper < 0 || work < 0) return upper < 0 ? -upper : -work;
        int tree = make_overlay({lower, upper, work}, step.attributes);
        if (tree < 0) return -tree;
        int place = step.shows_host ? open_without_links(root_, step.target) : -1;
        if (step.shows_host && place < 0) return -place;
        if (!step.shows_host && ::mkdirat(root_, step.target, step.mode) != 0 && errno != EEXIST)
            return errno;
        int moved = place >= 0
                        ? move_mount(tree, "", place, "", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH)
                        : move_mount(tree, "", root_, step.target, MOVE_MOUNT_F_EMPTY_PATH);
        if (moved != 0) return errno;
        for (int descriptor : {tree, place, lower, directory, upper, work}) let_go(descriptor);
        return 0;
    }

    struct Directories {
        int lower, upper, work;
    };

    static int make_overlay(const Directories& directories, uint64_t attributes) {
        int context = static_cast<int>(::syscall(SYS_fsopen, "overlay", FSOPEN_CLOEXEC));
        if (context < 0) return -errno;
        auto set = [&](const char* key, int descriptor) {
            return ::syscall(SYS_fsconfig, context, FSCONFIG_SET_STRING, key,
                             DescriptorPath(descriptor).text(), 0) == 0;
        };
        // Attributes of the user, since Linux 5.11: without privilege the kernel can't set others.
        bool is_set = ::syscall(SYS_fsconfig, context, FSCONFIG_SET_FLAG, "userxattr", nullptr, 0) == 0 &&
                      set("lowerdir", directories.lower) && set("upperdir", directories.upper) &&
                      set("workdir", directories.work);
        if (!is_set) return -errno;
        // Without it the end of the jail waits until all files are on the disk. layers/store.h has the price.
        ::syscall(SYS_fsconfig, context, FSCONFIG_SET_FLAG, "volatile", nullptr, 0);
        if (::syscall(SYS_fsconfig, context, FSCONFIG_CMD_CREATE, nullptr, nullptr, 0) != 0) return -errno;
        int tree = static_cast<int>(::syscall(SYS_fsmount, context, FSMOUNT_CLOEXEC, attributes));
        int number = errno;
        ::close(context);
        return tree < 0 ? -number : tree;
    }

    // A tree that is not mounted yet, with its final rights; or minus errno.
    int open_source(const Step& step, int place) {
        if (step.act == Act::mount_content) {
            if (int number = make_file(content_name(step), step); number != 0) return -number;
            return copy_tree(root_, content_name(step), 0, step.attributes);
        }
        // A copy has the rights of the original.
        if (step.act == Act::mount_copy) {
            int tree =
                open_tree(script_.descriptors[static_cast<size_t>(step.of)], "", kCopied | AT_EMPTY_PATH);
            return tree < 0 ? -errno : tree;
        }
        if (step.is_in_place) return copy_tree(place, "", AT_EMPTY_PATH, step.attributes);
        if (!step.is_pinned) return copy_tree(AT_FDCWD, step.source, 0, step.attributes);
        int source = open_without_links(AT_FDCWD, step.source);
        if (source < 0) return source;
        int tree = copy_tree(source, "", AT_EMPTY_PATH, step.attributes);
        let_go(source);
        return tree;
    }

    // If the link is missing, it was removed outside since the plan was made.
    int mount_link(const Step& step) {
        int place = open_link_itself(root_, step.target);
        if (place == -ENOENT) return 0;
        if (place < 0) return -place;
        int tree = copy_tree(place, "", AT_EMPTY_PATH, step.attributes);
        if (tree < 0) return -tree;
        int moved = move_mount(tree, "", place, "", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH);
        int number = moved == 0 || errno == ENOENT ? 0 : errno;
        let_go(tree);
        let_go(place);
        return number;
    }

    static const char* content_name(const Step& step) { return step.is_kept ? kCopiedName : kContentName; }

    // With one call if the kernel has it, else with two.
    int copy_tree(int directory, const char* path, unsigned flags, uint64_t attributes) {
        if (has_one_call_) {
            struct mount_attr wanted = {};
            wanted.attr_set = attributes;
            int tree = open_tree_with(directory, path, kCopied | flags, &wanted, sizeof wanted);
            if (tree >= 0) return tree;
            // As below: an old seccomp filter returns EPERM; if the kernel refuses, it also refuses the next
            // call.
            if (errno != ENOSYS && errno != EPERM) return -errno;
            has_one_call_ = false;
        }
        int tree = open_tree(directory, path, kCopied | flags);
        if (tree < 0) return -errno;
        int number = set_attributes(tree, attributes, kRecursive);
        return number != 0 ? -number : tree;
    }

    int check_and_make_place(const Step& step, int tree, int& place) const {
        if (place >= 0 && step.inode == 0) return 0;
        struct stat status;
        if (::fstat(tree, &status) != 0) return errno;
        if (step.inode != 0 && status.st_ino != step.inode) return ESTALE;
        if (place >= 0) return 0;
        bool is_directory = S_ISDIR(status.st_mode);
        if (step.shows_host) {
            place = open_or_make_without_links(root_, step.target, is_directory, kLeading);
            return place < 0 ? -place : 0;
        }
        int made = is_directory ? ::mkdirat(root_, step.target, 0755)
                                : ::mknodat(root_, step.target, S_IFREG | 0444, 0);
        return made == 0 || errno == EEXIST ? 0 : errno;
    }

    int set_attributes(int tree, uint64_t attributes, int flags) {
        if (needs_remount_) return 0;
        struct mount_attr wanted = {};
        wanted.attr_set = attributes;
        if (mount_setattr(tree, "", static_cast<unsigned>(AT_EMPTY_PATH | flags), &wanted, sizeof wanted) ==
            0)
            return 0;
        // An old seccomp filter of a container returns EPERM for a call that it does not list. If the kernel
        // itself refuses, the pass at the end fails too.
        if (errno != ENOSYS && errno != EPERM) return errno;
        needs_remount_ = true;
        return 0;
    }

    // ---- The rest

    int mount_new(size_t index) {
        const Step& step = script_.steps[index];
        int place = -1;
        int number = 0;
        if (step.shows_host) {
            place = open_without_links(root_, step.target);
            if (step.is_optional && is_gone(step, place)) return 0;
            if (place == -ENOENT && step.makes_place)
                place = open_or_make_without_links(root_, step.target, true, step.mode);
            if (place < 0) return -place;
            DescriptorPath path(place);
            number = mount_call(step.source, path.text(), step.source, step.flags, step.options);
        } else {
            number = mount_call(step.source, step.target, step.source, step.flags, step.options);
        }
        if (number != 0) return number;
        let_go(place);
        if (!step.is_kept) return 0;
        int mounted = open_without_links(root_, step.target);
        if (mounted < 0) return -mounted;
        script_.descriptors[index] = mounted;
        return 0;
    }

    int seal(const Step& step) {
        if (step.of >= 0) {
            int sealed = script_.descriptors[static_cast<size_t>(step.of)];
            if (sealed < 0 && script_.steps[static_cast<size_t>(step.of)].is_optional) return 0;
            int number = set_attributes(sealed, MOUNT_ATTR_RDONLY, 0);
            let_go(sealed);
            return number;
        }
        if (std::strcmp(step.target, ".") != 0) return EINVAL;
        forget_copied();
        return set_attributes(root_, MOUNT_ATTR_RDONLY, 0);
    }

    void let_go(int descriptor) const {
        if (descriptor >= 0 && script_.steps.size() > kShort) ::close(descriptor);
    }

    Script& script_;
    int root_ = -1;
    bool needs_remount_ = false;
    bool has_one_call_ = true;
};

// The old root is stacked on the new one and unmounted at once. From then on only open descriptors lead to
// it, and these are closed before any code of the user runs.
int leave_old_root() {
    if (::syscall(SYS_pivot_root, ".", ".") != 0) return errno;
    if (int number = unmount_call(".", kDetach); number != 0) return number;
    return ::chdir("/") == 0 ? 0 : errno;
}

}  // namespace

Failure build_view(Script& script, int self) {
    Builder builder(script);
    if (int number = builder.open_root(); number != 0) return {number, Phase::root};
    for (size_t i = 0; i < script.steps.size(); ++i) {
        if (int number = builder.carry_out(i); number != 0) {
            const Step& step = script.steps[i];
            bool is_content = step.act == Act::make_file || step.act == Act::mount_content;
            if (step.act == Act::mount_overlay && number != ESTALE)
                return {number, Phase::layer, step.target, step.options};
            return {number, Phase::step, step.target, is_content ? "" : step.source};
        }
    }
    builder.forget_copied();
    if (int number = leave_old_root(); number != 0) return {number, Phase::old_root};
    if (builder.needs_remount()) return remount(script, self, builder.root());
    return {};
}

}  // namespace backends::native
