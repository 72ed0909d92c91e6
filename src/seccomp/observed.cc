// SPDX-License-Identifier: MIT
// The calls that are observed in a traced jail: which of their arguments are paths, and how they are used.
// Calls on open descriptors are not among them, because the open itself was already observed. Nor are `exit`
// and `exit_group`: a signal can interrupt a notified call, and no program expects these two to return.
#include <sys/syscall.h>

#include "seccomp/trace.h"

namespace seccomp {
namespace {

using enum Use;

// Since Linux 5.1 new calls have the same number on every architecture.
constexpr int kFaccessat2 = 439;
constexpr int kFchmodat2 = 452;

constexpr NamedPath plain(int8_t path, Use use) {
    return {-1, path, use};
}
constexpr NamedPath below(int8_t directory, int8_t path, Use use) {
    return {directory, path, use};
}

constexpr ObservedCall kFileCalls[] = {
#ifdef SYS_open  // an architecture has all of the old calls or none
    {SYS_open, plain(0, by_flags), {}, 1},
    {SYS_creat, plain(0, put), {}},
    {SYS_stat, plain(0, look), {}},
    {SYS_lstat, plain(0, look), {}},
    {SYS_access, plain(0, by_mode), {}, 1},
    {SYS_readlink, plain(0, look), {}},
    {SYS_mkdir, plain(0, make), {}},
    {SYS_rmdir, plain(0, change), {}},
    {SYS_unlink, plain(0, change), {}},
    {SYS_rename, plain(0, change), plain(1, put)},
    {SYS_link, plain(0, look), plain(1, make)},
    {SYS_symlink, {}, plain(1, make)},
    {SYS_chmod, plain(0, change), {}},
    {SYS_chown, plain(0, change), {}},
    {SYS_lchown, plain(0, change), {}},
    {SYS_mknod, plain(0, make), {}},
    {SYS_utime, plain(0, change), {}},
    {SYS_utimes, plain(0, change), {}},
#endif
#ifdef SYS_newfstatat
    {SYS_newfstatat, below(0, 1, look), {}},
#endif
#ifdef SYS_renameat
    {SYS_renameat, below(0, 1, change), below(2, 3, put)},
#endif
    {SYS_openat, below(0, 1, by_flags), {}, 2},
    {SYS_statx, below(0, 1, look), {}},
    {SYS_statfs, plain(0, look), {}},
    {SYS_faccessat, below(0, 1, by_mode), {}, 2},
    {kFaccessat2, below(0, 1, by_mode), {}, 2},
    {SYS_readlinkat, below(0, 1, look), {}},
    {SYS_chdir, plain(0, look), {}},
    {SYS_mkdirat, below(0, 1, make), {}},
    {SYS_unlinkat, below(0, 1, change), {}},
    {SYS_renameat2, below(0, 1, change), below(2, 3, put)},
    {SYS_linkat, below(0, 1, look), below(2, 3, make)},
    {SYS_symlinkat, {}, below(1, 2, make)},
    {SYS_truncate, plain(0, change), {}},
    {SYS_fchmodat, below(0, 1, change), {}},
    {kFchmodat2, below(0, 1, change), {}},
    {SYS_fchownat, below(0, 1, change), {}},
    {SYS_mknodat, below(0, 1, make), {}},
    {SYS_utimensat, below(0, 1, change), {}},
    {SYS_setxattr, plain(0, change), {}},
    {SYS_removexattr, plain(0, change), {}},
};

constexpr ObservedCall kCommandCalls[] = {
    {SYS_execve, plain(0, read), {}},
    {SYS_execveat, below(0, 1, read), {}},
};

}  // namespace

std::span<const ObservedCall> file_calls() {
    return kFileCalls;
}

std::span<const ObservedCall> command_calls() {
    return kCommandCalls;
}

}  // namespace seccomp
