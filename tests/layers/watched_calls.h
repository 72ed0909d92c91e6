// SPDX-License-Identifier: MIT
// Runs a function in a child and stops the child at every system call that changes a file (seccomp user
// notification). The test then lets it go on, makes the call fail, or kills the child.
#pragma once

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <functional>
#include <vector>

#include "base/file.h"

namespace testing_support {

struct WatchedCall {
    int index = 0;  // from 1 on
    int number = 0;
    uint64_t arguments[6] = {};
};

enum class Fate { proceed, kill };
struct Answer {
    Fate fate = Fate::proceed;
    int error = 0;  // makes the call fail
};

inline std::vector<int> changing_calls() {
    return {
#ifdef SYS_rename
        SYS_rename,    SYS_unlink,    SYS_mkdir,           SYS_rmdir,   SYS_chmod,
#endif
#ifdef SYS_renameat
        SYS_renameat,
#endif
        SYS_renameat2, SYS_linkat,    SYS_unlinkat,        SYS_mkdirat, SYS_symlinkat, SYS_openat,
        SYS_write,     SYS_pwrite64,  SYS_copy_file_range, SYS_ioctl,   SYS_ftruncate, SYS_fchmod,
        SYS_fchmodat,  SYS_utimensat, SYS_fsetxattr,       SYS_fsync,   SYS_syncfs};
}

class WatchedChild {
  public:
    // The exit status of the function, or -1 if the child was killed.
    int run(const std::function<int()>& body, const std::function<Answer(const WatchedCall&)>& decide) {
        int ends[2];
        if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return -2;
        pid_t child = ::fork();
        if (child == 0) {
            int listener = install();
            send(ends[1], listener);
            int status = 99;
            try {
                if (listener >= 0) status = body();
            } catch (...) {
                status = 98;
            }
            ::_exit(status);
        }
        ::close(ends[1]);
        base::Fd end(ends[0]), listener(receive(ends[0]));
        serve(child, listener.get(), decide);
        int status = 0;
        ::waitpid(child, &status, 0);
        return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    }
    int calls() const { return calls_; }

  private:
    static int install() {
        std::vector<struct sock_filter> code{
            {BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(struct seccomp_data, nr)}};
        for (int number : changing_calls()) {
            code.push_back({BPF_JMP | BPF_JEQ | BPF_K, 0, 1, static_cast<uint32_t>(number)});
            code.push_back({BPF_RET | BPF_K, 0, 0, SECCOMP_RET_USER_NOTIF});
        }
        code.push_back({BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW});
        struct sock_fprog program = {static_cast<unsigned short>(code.size()), code.data()};
        ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        return static_cast<int>(
            ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program));
    }

    static void send(int socket, int descriptor) {
        char byte = 0, control[CMSG_SPACE(sizeof(int))] = {};
        struct iovec part = {&byte, 1};
        struct msghdr message = {};
        message.msg_iov = &part;
        message.msg_iovlen = 1;
        if (descriptor >= 0) {
            message.msg_control = control;
            message.msg_controllen = sizeof control;
            struct cmsghdr* head = CMSG_FIRSTHDR(&message);
            head->cmsg_level = SOL_SOCKET;
            head->cmsg_type = SCM_RIGHTS;
            head->cmsg_len = CMSG_LEN(sizeof(int));
            std::memcpy(CMSG_DATA(head), &descriptor, sizeof(int));
        }
        (void)!::sendmsg(socket, &message, 0);
    }

    static int receive(int socket) {
        char byte = 0, control[CMSG_SPACE(sizeof(int))] = {};
        struct iovec part = {&byte, 1};
        struct msghdr message = {};
        message.msg_iov = &part;
        message.msg_iovlen = 1;
        message.msg_control = control;
        message.msg_controllen = sizeof control;
        if (::recvmsg(socket, &message, MSG_CMSG_CLOEXEC) < 0) return -1;
        struct cmsghdr* head = CMSG_FIRSTHDR(&message);
        int descriptor = -1;
        if (head != nullptr) std::memcpy(&descriptor, CMSG_DATA(head), sizeof(int));
        return descriptor;
    }

    void serve(pid_t child, int listener, const std::function<Answer(const WatchedCall&)>& decide) {
        while (listener >= 0) {
            struct pollfd waiting = {listener, POLLIN, 0};
            if (::poll(&waiting, 1, -1) < 0 && errno == EINTR) continue;
            if ((waiting.revents & POLLIN) == 0) return;  // the child has ended
            struct seccomp_notif call = {};
            if (::ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &call) != 0) continue;
            WatchedCall seen{.number = call.data.nr};
            std::memcpy(seen.arguments, call.data.args, sizeof seen.arguments);
            Answer answer;
            if (is_change(seen)) {
                seen.index = ++calls_;
                answer = decide(seen);
            }
            if (answer.fate == Fate::kill) {
                ::kill(child, SIGKILL);
                return;
            }
            struct seccomp_notif_resp reply = {};
            reply.id = call.id;
            reply.error = -answer.error;
            reply.flags = answer.error == 0 ? SECCOMP_USER_NOTIF_FLAG_CONTINUE : 0;
            ::ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &reply);
        }
    }

    static bool is_change(const WatchedCall& call) {
        return call.number != SYS_openat || (call.arguments[2] & O_CREAT) != 0;
    }

    int calls_ = 0;
};

}  // namespace testing_support
