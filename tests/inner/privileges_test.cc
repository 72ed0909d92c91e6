// SPDX-License-Identifier: MIT
#include "inner/preparation.h"

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"

namespace {

std::string status_line(std::string_view name) {
    base::Result<std::string> status = base::read_file("/proc/self/status");
    if (!status) return {};
    for (std::string_view line : base::split(*status, '\n')) {
        if (line.starts_with(name)) return std::string(base::trim(line.substr(name.size() + 1)));
    }
    return {};
}

int in_child(int (*claims)()) {
    pid_t child = ::fork();
    if (child == 0) ::_exit(claims());
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 254;
}

constexpr const char* kNone = "0000000000000000";

TEST(Privileges, NoneIsLeftAndNoneComesBack) {
    EXPECT_EQ(in_child([] {
                  if (inner::give_up_privileges() != 0) return 1;
                  for (const char* set : {"CapInh", "CapPrm", "CapEff", "CapAmb"}) {
                      if (status_line(set) != kNone) return 2;
                  }
                  if (status_line("NoNewPrivs") != "1") return 3;
                  return ::setuid(::getuid() + 1) == 0 ? 4 : 0;
              }),
              0);
}

TEST(Privileges, RootKeepsNoneInAProgramThatIsExecuted) {
    if (::geteuid() != 0) GTEST_SKIP() << "not root: there is nothing to lose";
    EXPECT_EQ(in_child([] {
                  if (inner::give_up_privileges() != 0) return 1;
                  ::execl("/bin/sh", "sh", "-c",
                          "grep -q '^CapEff:[[:space:]]*0*$' /proc/self/status && "
                          "grep -q '^CapBnd:[[:space:]]*0*$' /proc/self/status",
                          nullptr);
                  return 2;
              }),
              0);
    // The control: a program that root executes has capabilities.
    EXPECT_NE(in_child([] {
                  ::execl("/bin/sh", "sh", "-c", "grep -q '^CapEff:[[:space:]]*0*$' /proc/self/status",
                          nullptr);
                  return 0;
              }),
              0);
}

}  // namespace
