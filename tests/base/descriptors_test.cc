// SPDX-License-Identifier: MIT
#include "base/process/descriptors.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

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
