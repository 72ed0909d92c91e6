// SPDX-License-Identifier: MIT
// Acts of a real process behind the filter, answered by a real doorman in the test's own process; and the
// same acts without it, as a control. An act returns zero or an errno.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "base/process/descriptors.h"
#include "doorman/doorman.h"

namespace doorman {

inline constexpr int kUnexpected = 200;  // not an errno: the act did not come as far as it should
inline constexpr int kKilled = 201;

inline int result_of(long returned) {
    return returned >= 0 ? 0 : errno;
}

class Jail {
  public:
    explicit Jail(AnsweredCalls calls, Hooks hooks = {})
        : calls_(std::move(calls)), hooks_(std::move(hooks)) {
        ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
        if (calls_.internet != Internet::handed) return;
        int ends[2];
        EXPECT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
        calls_.gateway = ends[0];
        stage_end_ = base::Fd(ends[0]);
        gateway_ = base::Fd(ends[1]);
    }

    // What the gateway got, in order. It says each note to its client and keeps the connection.
    std::vector<std::string> notes;
    std::vector<base::Fd> handed;
    // Looked at after each answer.
    std::function<void(pid_t)> meanwhile;

    int run(const std::function<int()>& act) {
        int ends[2];
        EXPECT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
        base::Fd ours(ends[0]), theirs(ends[1]);
        pid_t child = ::fork();
        if (child == 0) {
            ours.reset();
            gateway_.reset();
            become_jailed(theirs.get(), act);
        }
        theirs.reset();
        auto passed = base::receive_descriptors(ours.get());
        EXPECT_TRUE(passed && passed->descriptors.size() == 1);
        if (!passed || passed->descriptors.size() != 1) return kUnexpected;
        Doorman doorman(calls_, std::move(passed->descriptors[0]), hooks_);
        return serve(doorman, child);
    }

    void close_gateway() { gateway_.reset(); }

    // Without the doorman, but in a process of its own.
    static int control(const std::function<int()>& act) {
        pid_t child = ::fork();
        if (child == 0) leave(act());
        return wait_for(child, 0);
    }

  private:
    static void leave(int result) { ::syscall(SYS_exit_group, result); }

    void become_jailed(int channel, const std::function<int()>& act) const {
        ::setpgid(0, 0);
        ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        int listener = install(calls_);
        if (listener < 0) leave(kUnexpected);
        (void)base::send_descriptors(channel, "listener", std::span(&listener, 1));
        ::close(listener);
        ::close(channel);
        leave(act());
    }

    static int wait_for(pid_t child, int flags) {
        int status = 0;
        pid_t ended = ::waitpid(child, &status, flags);
        if (ended != child) return -1;
        return WIFEXITED(status) ? WEXITSTATUS(status) : kKilled;
    }

    int serve(Doorman& doorman, pid_t child) {
        auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
        base::Fd end(static_cast<int>(::syscall(SYS_pidfd_open, child, 0)));
        while (std::chrono::steady_clock::now() < deadline) {
            struct pollfd watched[] = {
                {doorman.events(), POLLIN, 0}, {end.get(), POLLIN, 0}, {gateway_.get(), POLLIN, 0}};
            ::poll(watched, 3, 100);
            if (watched[2].revents) take_handed();
            if (watched[0].revents) doorman.answer();
            if (meanwhile) meanwhile(child);
            if (watched[1].revents) {
                int result = wait_for(child, WNOHANG);
                while (::waitpid(-1, nullptr, WNOHANG) > 0) {
                }
                return result;
            }
        }
        ADD_FAILURE() << "the act did not end";
        ::kill(child, SIGKILL);
        return wait_for(child, 0);
    }

    void take_handed() {
        auto passed = base::receive_descriptors(gateway_.get());
        if (!passed || passed->descriptors.size() != 1) return;
        notes.push_back(passed->note);
        (void)!::send(passed->descriptors[0].get(), passed->note.data(), passed->note.size(), MSG_NOSIGNAL);
        handed.push_back(std::move(passed->descriptors[0]));
    }

    AnsweredCalls calls_;
    Hooks hooks_;
    base::Fd stage_end_, gateway_;
};

}  // namespace doorman
