// SPDX-License-Identifier: MIT
// Threat: a process of a concurrent jail replaces a directory of the project by a symbolic link while
// bubblewrap mounts by path: the source then comes from elsewhere, or a cover is mounted elsewhere. No code
// of the user has run when this check runs; afterwards the mount points can't be moved from inside.
// (tests/session/race_test.cc)
#include "inner/checks.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>

#include <cerrno>

#include "base/no_links.h"

namespace inner {
namespace {

bool has_identity(const struct statx& status, const Check& check) {
    return makedev(status.stx_dev_major, status.stx_dev_minor) == check.device &&
           status.stx_ino == check.inode && (status.stx_mode & S_IFMT) == check.type;
}

// A bind mount of a path onto itself has the identity of what it covers, so the identity alone does not prove
// the mount. Kernels before 5.8 do not report mount points; for a read-only mount the flag below still proves
// it.
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
    if (!is_mount_point(status)) return EPERM;
    struct statvfs filesystem;
    if (check.is_readonly && ::fstatvfs(fd.get(), &filesystem) != 0) return errno;
    if (check.is_readonly && !(filesystem.f_flag & ST_RDONLY)) return EPERM;
    return 0;
}

}  // namespace inner
