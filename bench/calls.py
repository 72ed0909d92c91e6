# SPDX-License-Identifier: MIT
# calls.py [BEFORE] TRACE: counts the system calls in traces of `strace -f`, by purpose. (strace's own summary omits calls without a
# name.)
import collections
import re
import sys

# A call in no group counts as "other", so that the sum is always that of strace.
GROUPS = {
    "mounts": """
        mount umount2 move_mount open_tree open_tree_attr mount_setattr fsopen fsconfig fsmount fspick pivot_root
        chroot statfs fstatfs statmount listmount""",
    "links": """
        symlink symlinkat link linkat""",
    "files looked up": """
        open openat openat2 creat close close_range stat lstat fstat newfstatat fstatat64 statx access faccessat
        faccessat2 readlink readlinkat chdir fchdir getcwd getxattr lgetxattr fgetxattr name_to_handle_at""",
    "places and placeholders": """
        mkdir mkdirat rmdir mknod mknodat unlink unlinkat rename renameat renameat2 chmod fchmod fchmodat chown fchown
        fchownat lchown umask utimensat ftruncate fallocate flock inotify_init1 inotify_add_watch""",
    "processes": """
        clone clone3 fork vfork execve execveat wait4 waitid exit exit_group kill tgkill tkill pidfd_open pidfd_getfd
        pidfd_send_signal getpid getppid gettid getpgid getpgrp setpgid getsid setsid set_tid_address set_robust_list
        rseq rt_sigaction rt_sigprocmask rt_sigreturn rt_sigtimedwait rt_sigsuspend sigaltstack signalfd4 arch_prctl
        futex restart_syscall sched_yield sched_getaffinity prlimit64 getrlimit setrlimit setpriority getpriority
        ioprio_set""",
    "memory": """
        mmap munmap mprotect mremap brk madvise mlock memfd_create""",
    "capabilities and walls": """
        unshare setns prctl capget capset seccomp landlock_create_ruleset landlock_add_rule landlock_restrict_self
        setuid setgid setresuid setresgid setreuid setregid setgroups getuid geteuid getgid getegid getresuid
        getresgid getgroups sethostname setdomainname keyctl personality""",
    "network": """
        socket socketpair bind listen accept accept4 connect shutdown setsockopt getsockopt getsockname getpeername
        sendto recvfrom sendmsg recvmsg sendmmsg recvmmsg epoll_create epoll_create1 epoll_ctl epoll_wait epoll_pwait
        epoll_pwait2 poll ppoll select pselect6 eventfd2 timerfd_create timerfd_settime""",
    "reading and writing": """
        read pread64 readv preadv write pwrite64 writev pwritev getdents64 getdents lseek pipe pipe2 dup dup2 dup3
        fcntl ioctl splice sendfile copy_file_range fsync fdatasync getrandom""",
}
GROUP_OF = {call: group for group, calls in GROUPS.items() for call in calls.split()}

# Newer than strace's list of names; from 424 on, the numbers are the same on all architectures.
NAMED = {"syscall_0x1d3": "open_tree_attr"}


# For one trace: the number of calls in each group and in total, and of executed programs. A call that strace prints in two lines counts
# once.
def counted(file):
    sums = collections.Counter()
    with open(file, errors="replace") as trace:
        for line in trace:
            call = re.match(r"\d+\s+([a-z_0-9]+)\(", line)
            if call:
                name = NAMED.get(call[1], call[1])
                sums.update([GROUP_OF.get(name, "other"), "all"])
                sums["programs executed"] += name.startswith("execve") and " = -1 " not in line
    return sums if sums["all"] else sys.exit(f"{file}: strace has seen nothing")


columns = [counted(file) for file in sys.argv[1:]]
print("what for", *["calls before", "calls"][-len(columns) :], sep="\t")
for row in [*GROUPS, "other", "all", "programs executed"]:
    print(row, *[column[row] for column in columns], sep="\t")
