// SPDX-License-Identifier: MIT
// Threat: a process of a concurrent jail replaces a directory of the project by a symbolic link while
// bubblewrap mounts by path: the source then comes from elsewhere, or a cover is mounted elsewhere. No code
// of the user has run when this check runs; afterwards the mount points can't be moved from inside.
// (tests/session/race_test.cc)
#include "inner/preparation.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <linux/keyctl.h>
#include <linux/securebits.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>

#include "base/file.h"
#include "base/no_links.h"

namespace inner {
namespace {

bool has_identity(const struct statx& status, const Check& check) {
    return makedev(status.stx_dev_major, status.stx_dev_minor) == check.device &&
           status.stx_ino == check.inode && (status.stx_mode & S_IFMT) == check.type;
}

// A bind mount of a path onto itself has the identity of what it covers, so the identity alone does not prove
// the mount. For a read-only mount its flag is the proof: firejail makes no mount point of what is read-only
// on the host already. Kernels before 5.8 do not report mount points.
bool is_mount_point(const struct statx& status) {
    return !(status.stx_attributes_mask & STATX_ATTR_MOUNT_ROOT) ||
           (status.stx_attributes & STATX_ATTR_MOUNT_ROOT);
}

// A path that can't be reached counts as closed.
int failure_of_other(const Check& check) {
    struct statx status;
    if (::statx(AT_FDCWD, check.target.c_str(), 0, STATX_TYPE | STATX_INO, &status) != 0) return 0;
    return has_identity(status, check) ? EEXIST : 0;
}

}  // namespace

int failure_of(const Check& check) {
    if (check.is_other) return failure_of_other(check);
    base::Result<base::Path> target = base::Path::parse(check.target);
    if (!target) return EINVAL;
    base::Fd fd(base::open_without_links(*target, O_PATH));
    if (!fd) return -fd.get();
    struct statx status;
    if (::statx(fd.get(), "", AT_EMPTY_PATH, STATX_TYPE | STATX_INO, &status) != 0) return errno;
    if (check.has_identity && !has_identity(status, check)) return ESTALE;
    if (!check.is_readonly && !is_mount_point(status)) return EPERM;
    struct statvfs filesystem;
    if (check.is_readonly && ::fstatvfs(fd.get(), &filesystem) != 0) return errno;
    if (check.is_readonly && !(filesystem.f_flag & ST_RDONLY)) return EPERM;
    return 0;
}

void write_files(const std::vector<WrittenFile>& files) {
    for (const WrittenFile& one : files) {
        base::Result<base::Path> path = base::Path::parse(one.path);
        if (!path || !base::make_directories(path->parent().str(), 0755)) continue;
        ::unlink(path->c_str());
        if (one.is_link) {
            (void)!::symlink(one.content.c_str(), path->c_str());
            continue;
        }
        base::Fd file(::open(path->c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644));
        if (file) (void)base::write_all(file.get(), one.content);
    }
}

int leave_keyring(const LaunchSpec& spec) {
    if (::syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, nullptr) >= 0) return 0;
    // The kernel has no keyrings, or a container around us blocks them. The second case is enough only if our
    // own filter blocks them too.
    bool is_closed_anyway = errno == ENOSYS || (errno == EPERM && !spec.system_calls.allow_keyrings);
    return is_closed_anyway ? 0 : errno;
}

// Threat: if kernel.core_pattern names a program, the kernel runs it as root of the host and gives it the
// memory of the crashed process. A limit of 0 does not prevent that, because it applies to files; a limit of
// 1 does, and is too small for a file as well. The filter keeps the jail from changing it
// (tests/jail/isolation.bats).
void forbid_core_dumps() {
    constexpr rlim_t kNeitherFileNorProgram = 1;
    struct rlimit limit = {kNeitherFileNorProgram, kNeitherFileNorProgram};
    // If the caller's hard limit is zero, it can't be raised, and the program in core_pattern decides.
    (void)!::setrlimit(RLIMIT_CORE, &limit);
}

namespace {

// Root gets no capabilities any more, neither by executing a file nor by changing the user.
constexpr unsigned long kRootIsNobody = SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP |
                                        SECBIT_NO_SETUID_FIXUP_LOCKED | SECBIT_KEEP_CAPS_LOCKED |
                                        SECBIT_NO_CAP_AMBIENT_RAISE | SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED;

struct Sets {
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {};

    bool has_any() const {
        for (const auto& part : data) {
            if (part.effective != 0 || part.permitted != 0 || part.inheritable != 0) return true;
        }
        return false;
    }
};

// Both need a capability that most callers do not have; for them no_new_privs has the same effect.
void close_ways_back() {
    for (unsigned long number = 0; ::prctl(PR_CAPBSET_READ, number, 0, 0, 0) >= 0; ++number) {
        ::prctl(PR_CAPBSET_DROP, number, 0, 0, 0);
    }
    ::prctl(PR_SET_SECUREBITS, kRootIsNobody, 0, 0, 0);
}

}  // namespace

int give_up_privileges() {
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return errno;
    ::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    close_ways_back();
    Sets none;
    if (::syscall(SYS_capset, &none.header, none.data) != 0) return errno;
    Sets left;
    if (::syscall(SYS_capget, &left.header, left.data) != 0) return errno;
    return left.has_any() ? EPERM : 0;
}

}  // namespace inner
