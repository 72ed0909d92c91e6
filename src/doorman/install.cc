// SPDX-License-Identifier: MIT
#include <fcntl.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "base/process/pass_descriptors.h"
#include "doorman/calls.h"
#include "doorman/doorman.h"
#include "doorman/filter.h"

namespace doorman {
namespace {

// SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, Linux 5.19: after the notification is received, only a deadly
// signal ends the wait. Without it, a signal with a handler makes the kernel notify again, although the call
// may have been executed already.
constexpr unsigned kWaitsPatiently = 1u << 5;

constexpr unsigned kListens = SECCOMP_FILTER_FLAG_NEW_LISTENER;

// Returns the listener, 0 if none was asked for, or a negative errno.
int install_rows(std::span<const Row> rows, unsigned listens) {
    std::vector<sock_filter> filter = compile(rows);
    sock_fprog program = {.len = static_cast<unsigned short>(filter.size()), .filter = filter.data()};
    // Without SPEC_ALLOW, kernels before 5.16 make every program slower (seccomp/install.cc).
    for (unsigned more : {kWaitsPatiently | unsigned{SECCOMP_FILTER_FLAG_SPEC_ALLOW},
                          unsigned{SECCOMP_FILTER_FLAG_SPEC_ALLOW}, 0u}) {
        if (listens == 0) more &= ~kWaitsPatiently;
        long listener = ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, listens | more, &program);
        if (listener >= 0 && listens == 0) return 0;
        // Threat: a process inside that holds it answers its own calls. The kernel makes it so that exec
        // closes it; set once more because everything depends on it (tests/doorman/filter_test.cc).
        if (listener >= 0) ::fcntl(static_cast<int>(listener), F_SETFD, FD_CLOEXEC);
        if (listener >= 0) return static_cast<int>(listener);
        if (errno != EINVAL) break;
    }
    return -errno;
}

// A process behind a filter that notifies; any call will do.
[[noreturn]] void stand_behind_filter(int channel) {
    const Row row{.call = SYS_getppid, .tests = {}, .verdict = SECCOMP_RET_USER_NOTIF};
    ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    int listener = install_rows(std::span(&row, 1), kListens);
    if (listener < 0) ::_exit(1);
    // It fails if the user has too many descriptors in queues of sockets.
    if (!base::send_descriptors(channel, "listener", std::span(&listener, 1))) ::_exit(1);
    struct pollfd ended = {channel, 0, 0};
    ::poll(&ended, 1, -1);
    ::_exit(0);
}

// `secret` has the same address in both processes.
bool can_look_at(pid_t child, int its_channel, const int& secret) {
    int seen = 0;
    struct iovec here = {&seen, sizeof seen};
    struct iovec there = {const_cast<int*>(&secret), sizeof secret};
    if (::process_vm_readv(child, &here, 1, &there, 1, 0) != sizeof seen || seen != secret) return false;
    base::Fd process(static_cast<int>(::syscall(kPidfdOpen, child, 0)));
    return bool(base::Fd(static_cast<int>(::syscall(kPidfdGetfd, process.get(), its_channel, 0))));
}

}  // namespace

std::vector<sock_filter> program_for(const AnsweredCalls& calls) {
    return compile(rows_for(calls));
}

int install(const AnsweredCalls& calls) {
    return install_rows(rows_for(calls), kListens);
}

int install_refusals(const AnsweredCalls& calls) {
    return -install_rows(rows_for(calls), 0);
}

// An administrator may have forbidden it (kernel.yama.ptrace_scope above 1), or a filter around us.
bool is_possible() {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return false;
    base::Fd ours(ends[0]), theirs(ends[1]);
    const int secret = static_cast<int>(::getpid());
    pid_t child = ::fork();
    if (child < 0) return false;
    if (child == 0) {
        ours.reset();
        stand_behind_filter(theirs.get());
    }
    int its_channel = theirs.get();
    theirs.reset();
    base::Result<base::PassedDescriptors> passed = base::receive_descriptors(ours.get());
    bool is_so = passed && passed->descriptors.size() == 1 && can_look_at(child, its_channel, secret);
    ::kill(child, SIGKILL);
    while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
    }
    return is_so;
}

}  // namespace doorman
