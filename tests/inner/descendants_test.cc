// SPDX-License-Identifier: MIT
// Ends the processes that a command leaves behind, without a pid namespace. Each test runs as the stage in a
// child process, whose descendants all keep one end of a pipe open. When the other end sees the hangup, no
// descendant is left.
#include "inner/descendants.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>

#include "base/file.h"

namespace {

constexpr int kPatience = 60'000;  // milliseconds

[[noreturn]] void wait_for_ever() {
    for (;;) ::pause();
}

// A daemon in a session of its own, with a child. Both ignore SIGTERM, SIGHUP and SIGINT.
void leave_daemon() {
    if (::fork() != 0) return;
    ::setsid();
    if (::fork() != 0) ::_exit(0);
    for (int signal : {SIGTERM, SIGHUP, SIGINT}) ::signal(signal, SIG_IGN);
    if (::fork() == 0) wait_for_ever();
    wait_for_ever();
}

// Forks again and again, so that it never stays the same process or in the same session.
[[noreturn]] void run_away() {
    for (;;) {
        pid_t next = ::fork();
        if (next > 0) ::_exit(0);
        ::setsid();
    }
}

struct Watched {
    base::Fd alive;  // gets a hangup when the last descendant exits
    pid_t process = -1;
};

Watched run(const std::function<void()>& part) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return {};
    Watched watched{base::Fd(ends[0]), ::fork()};
    if (watched.process == 0) {
        ::close(ends[0]);
        part();
        ::_exit(0);
    }
    ::close(ends[1]);
    return watched;
}

bool is_gone(const Watched& watched) {
    struct pollfd end = {watched.alive.get(), POLLIN, 0};
    return ::poll(&end, 1, kPatience) == 1 && (end.revents & POLLHUP) != 0;
}

void start_all() {
    leave_daemon();
    if (::fork() == 0) run_away();
    if (::fork() == 0) {
        ::setpgid(0, 0);
        ::kill(::getpid(), SIGSTOP);
    }
    ::usleep(50'000);
}

TEST(Descendants, NothingIsLeftWhateverItDidToGetAway) {
    Watched watched = run([] {
        ::prctl(PR_SET_CHILD_SUBREAPER, 1);
        start_all();
        inner::end_descendants();
    });
    EXPECT_EQ(::waitpid(watched.process, nullptr, 0), watched.process);
    EXPECT_TRUE(is_gone(watched));
}

// The control: without end_descendants() the daemon stays alive.
TEST(Descendants, ADaemonOutlivesWhoDoesNotEndIt) {
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);  // lets this test end the daemon
    Watched watched = run([] {
        leave_daemon();
        ::usleep(50'000);
    });
    ::waitpid(watched.process, nullptr, 0);
    struct pollfd end = {watched.alive.get(), POLLIN, 0};
    EXPECT_EQ(::poll(&end, 1, 200), 0);
    inner::end_descendants();
    ::prctl(PR_SET_CHILD_SUBREAPER, 0);
    EXPECT_TRUE(is_gone(watched));
}

TEST(Descendants, TheWardenEndsWhatAKilledStageLeaves) {
    Watched watched = run([] {
        if (inner::leave_warden() != 0) ::_exit(1);
        start_all();
        ::kill(::getpid(), SIGKILL);
    });
    int status = 0;
    EXPECT_EQ(::waitpid(watched.process, &status, 0), watched.process);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    EXPECT_TRUE(is_gone(watched));
}

TEST(Descendants, AKilledWardenLeavesTheStageToItsWork) {
    Watched watched = run([] {
        if (inner::leave_warden() != 0) ::_exit(1);
        start_all();
        ::kill(::getppid(), SIGKILL);
        ::usleep(50'000);
        inner::end_descendants();
    });
    ::waitpid(watched.process, nullptr, 0);
    EXPECT_TRUE(is_gone(watched));
}

TEST(Descendants, TheWardenHoldsNoDescriptor) {
    Watched watched = run([] {
        if (inner::leave_warden() != 0) ::_exit(1);
        // This process then closes the last write end of the pipe.
        for (int fd = 0; fd < 64; ++fd) ::close(fd);
        ::sleep(2);
    });
    struct pollfd end = {watched.alive.get(), POLLIN, 0};
    EXPECT_EQ(::poll(&end, 1, 1'000), 1);
    ::waitpid(watched.process, nullptr, 0);
}

}  // namespace
