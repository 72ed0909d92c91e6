// SPDX-License-Identifier: MIT
#include "seccomp/allow_list.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

namespace {

constexpr int kCouldNotForbid = 100;

// The exit status of a process that forbids itself to execute if `forbids`, and then runs `act`.
template <typename Act>
int status_of(bool forbids, Act act) {
    pid_t child = ::fork();
    if (child == 0) {
        if (forbids && seccomp::forbid_execution_by_name() != 0) ::_exit(kCouldNotForbid);
        ::_exit(act());
    }
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int by_name() {
    char name[] = "false";
    char* words[] = {name, nullptr};
    ::execve("/bin/false", words, environ);
    return errno == EPERM ? 50 : 51;
}

int by_name_through_a_descriptor() {
    char name[] = "false";
    char* words[] = {name, nullptr};
    int directory = ::open("/bin", O_PATH | O_DIRECTORY | O_CLOEXEC);
    ::syscall(SYS_execveat, directory, "false", words, environ, 0);
    return errno == EPERM ? 50 : 51;
}

int by_descriptor() {
    char name[] = "false";
    char* words[] = {name, nullptr};
    int program = ::open("/bin/false", O_PATH | O_CLOEXEC);
    ::syscall(SYS_execveat, program, "", words, environ, AT_EMPTY_PATH);
    return 51;
}

// `false` exits with 1, which shows that it was started.
TEST(NoExecution, ByNameIsRefused) {
    EXPECT_EQ(status_of(false, by_name), 1) << "control";
    EXPECT_EQ(status_of(true, by_name), 50);
    EXPECT_EQ(status_of(true, by_name_through_a_descriptor), 50);
}

TEST(NoExecution, ByDescriptorItStarts) {
    EXPECT_EQ(status_of(true, by_descriptor), 1);
}

TEST(NoExecution, ChildrenAreHeldToo) {
    EXPECT_EQ(status_of(true, [] { return status_of(false, by_name); }), 50);
}

}  // namespace
