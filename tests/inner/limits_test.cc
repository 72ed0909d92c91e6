// SPDX-License-Identifier: MIT
#include "inner/command/process_state.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

// In a child, because a process can't raise its limits again.
int in_child(int (*body)()) {
    pid_t child = ::fork();
    if (child == 0) ::_exit(body());
    int status = 0;
    ::waitpid(child, &status, 0);
    return WEXITSTATUS(status);
}

TEST(InnerLimits, AreLoweredForGood) {
    EXPECT_EQ(in_child([] {
                  struct rlimit before = {50, 100}, after;
                  ::setrlimit(RLIMIT_NOFILE, &before);
                  if (inner::apply_limits({{RLIMIT_NOFILE, 20}, {RLIMIT_FSIZE, 4096}}) != 0) return 1;
                  ::getrlimit(RLIMIT_NOFILE, &after);
                  if (after.rlim_cur != 20 || after.rlim_max != 20) return 2;
                  ::getrlimit(RLIMIT_FSIZE, &after);
                  return after.rlim_max == 4096 ? 0 : 3;
              }),
              0);
}

TEST(InnerLimits, NeverRaiseALowerOne) {
    EXPECT_EQ(in_child([] {
                  struct rlimit before = {50, 100}, after;
                  ::setrlimit(RLIMIT_NOFILE, &before);
                  if (inner::apply_limits({{RLIMIT_NOFILE, 80}}) != 0) return 1;
                  ::getrlimit(RLIMIT_NOFILE, &after);
                  if (after.rlim_cur != 50 || after.rlim_max != 80) return 2;
                  if (inner::apply_limits({{RLIMIT_NOFILE, 1000}}) != 0) return 3;
                  ::getrlimit(RLIMIT_NOFILE, &after);
                  return after.rlim_max == 80 ? 0 : 4;
              }),
              0);
}

TEST(InnerLimits, SayWhatCantBeSet) {
    EXPECT_EQ(inner::apply_limits({{12345, 1}}), EINVAL);
}

}  // namespace
