// SPDX-License-Identifier: MIT
#include "network/gateway/confine.h"

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "landlock/seal.h"
#include "seccomp/allow_list.h"

namespace network::gateway {
namespace {

#ifdef SYS_epoll_wait
constexpr int kEpollWait = SYS_epoll_wait;
#else
constexpr int kEpollWait = -1;
#endif
#ifdef SYS_epoll_pwait2
constexpr int kEpollWait2 = SYS_epoll_pwait2;
#else
constexpr int kEpollWait2 = -1;
#endif

// The most frequent calls first: the kernel runs the filter from the top.
constexpr int kCalls[] = {SYS_recvfrom,       SYS_sendto,
                          SYS_splice,         SYS_epoll_pwait,
                          kEpollWait,         kEpollWait2,
                          SYS_epoll_ctl,      SYS_accept4,
                          SYS_close,          SYS_connect,
                          SYS_setsockopt,     SYS_getsockopt,
                          SYS_getsockname,    SYS_getpeername,
                          SYS_shutdown,       SYS_read,
                          SYS_write,          SYS_readv,
                          SYS_writev,         SYS_recvmsg,
                          SYS_sendmsg,        SYS_pipe2,
                          SYS_fcntl,          SYS_getrandom,
                          SYS_clock_gettime,  SYS_brk,
                          SYS_munmap,         SYS_mremap,
                          SYS_madvise,        SYS_futex,
                          SYS_rt_sigreturn,   SYS_exit_group,
                          SYS_rt_sigprocmask, SYS_restart_syscall,
                          SYS_exit,           SYS_gettid,
                          SYS_getpid,         SYS_tgkill,
                          SYS_fstat};

std::vector<seccomp::Allowed> allowed_calls() {
    std::vector<seccomp::Allowed> calls = {
        // Only these families: a Unix socket would reach services of the host.
        {SYS_socket, 0, {AF_INET, AF_INET6}},
        {SYS_mmap, 2, {PROT_EXEC}, true},
        {SYS_mprotect, 2, {PROT_EXEC}, true},
    };
    for (int number : kCalls) calls.push_back({.number = number});
    return calls;
}

}  // namespace

base::Result<Confinement> confine() {
    Confinement confinement;
    ::prctl(PR_SET_DUMPABLE, 0);
    struct rlimit none = {0, 0};
    ::setrlimit(RLIMIT_CORE, &none);
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return base::system_error("confine the gateway", errno);
    int number = landlock::give_up_files();
    bool is_missing = number == ENOSYS || number == EOPNOTSUPP;
    if (number != 0 && !is_missing) return base::system_error("confine the gateway with Landlock", number);
    confinement.has_landlock = number == 0;
    if (number = seccomp::install_allow_list(allowed_calls()); number != 0) {
        return base::system_error("confine the gateway with a filter", number);
    }
    return confinement;
}

}  // namespace network::gateway
