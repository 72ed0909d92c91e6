// SPDX-License-Identifier: MIT
#include "base/process/descriptors.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>

namespace {

bool is_open(int fd) {
    return ::fcntl(fd, F_GETFD) >= 0;
}

// Each act changes the whole descriptor table, so it runs in a child process. The exit status is the result.
template <typename Act>
int in_a_child(Act act) {
    pid_t child = ::fork();
    if (child == 0) ::_exit(act() ? 0 : 1);
    int status = -1;
    ::waitpid(child, &status, 0);
    return status;
}

TEST(Descriptors, OneIsAwaited) {
    using namespace std::chrono_literals;
    int ends[2];
    ASSERT_EQ(::pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
    base::Fd reader(ends[0]), writer(ends[1]);
    EXPECT_EQ(base::ready_events(reader.get(), POLLIN), 0);
    EXPECT_EQ(errno, ETIMEDOUT);
    EXPECT_EQ(base::await_events(reader.get(), POLLIN, 1ms), 0);
    EXPECT_EQ(errno, ETIMEDOUT);
    EXPECT_EQ(base::await_events(writer.get(), POLLOUT, -1ms), POLLOUT);
    ASSERT_EQ(::write(writer.get(), "x", 1), 1);
    EXPECT_EQ(base::await_events(reader.get(), POLLIN, 60s), POLLIN);
    // After the deadline, a byte that is ready does not count.
    EXPECT_EQ(base::await_events(reader.get(), POLLIN, std::chrono::steady_clock::now() - 1ms), 0);
    EXPECT_EQ(errno, ETIMEDOUT);
    writer.reset();
    EXPECT_EQ(base::ready_events(reader.get(), POLLIN), POLLIN | POLLHUP);
}

TEST(Descriptors, AnAdmittedSignalEndsTheWait) {
    sigset_t blocked, before;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR1);
    sigprocmask(SIG_BLOCK, &blocked, &before);
    auto* former = ::signal(SIGUSR1, [](int) {});
    ::raise(SIGUSR1);
    EXPECT_EQ(base::await_events(-1, POLLIN, std::chrono::milliseconds(-1), before), 0);
    EXPECT_EQ(errno, EINTR);
    ::signal(SIGUSR1, former);
    sigprocmask(SIG_SETMASK, &before, nullptr);
}

TEST(Descriptors, OnlyTheKeptStayOpen) {
    EXPECT_EQ(in_a_child([] {
                  ::dup2(2, 40);
                  ::dup2(2, 41);
                  ::dup2(2, 42);
                  base::close_others({42, 1, 40, -1});
                  return is_open(1) && is_open(40) && is_open(42) && !is_open(0) && !is_open(2) &&
                         !is_open(41);
              }),
              0);
}

TEST(Descriptors, OnlyTheNamedAreInherited) {
    EXPECT_EQ(in_a_child([] {
                  ::dup2(2, 40);
                  ::fcntl(::dup2(2, 41), F_SETFD, FD_CLOEXEC);
                  base::inherit_only({41});
                  return ::fcntl(40, F_GETFD) == FD_CLOEXEC && ::fcntl(41, F_GETFD) == 0 &&
                         ::fcntl(2, F_GETFD) == 0;
              }),
              0);
}

TEST(Descriptors, ClosedStandardOnesAreFilled) {
    EXPECT_EQ(in_a_child([] {
                  ::close(0);
                  ::close(2);
                  base::fill_standard_descriptors();
                  return is_open(0) && is_open(2) && ::write(2, "x", 1) == 1;
              }),
              0);
}

}  // namespace
