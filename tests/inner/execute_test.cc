// SPDX-License-Identifier: MIT
#include "inner/command/start.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/temporary_directory.h"
#include "inner/messages.h"

namespace {

using testing_support::TemporaryDirectory;

std::string write_program(const TemporaryDirectory& directory, std::string_view name,
                          std::string_view content) {
    std::string file = directory.write(name, content);
    ::chmod(file.c_str(), 0755);
    return file;
}

// The exit status of the executed program; 200 + errno if exec failed, 1000 more if its interpreter was
// missing.
int run(std::vector<std::string> command, const std::string& path) {
    int ends[2];
    if (::pipe(ends) != 0) return -1;
    pid_t child = ::fork();
    if (child == 0) {
        inner::LaunchSpec spec{.command = std::move(command), .environment = {"PATH=" + path}};
        inner::ExecuteFailure failure = inner::execute(spec);
        int answer = 200 + failure.number + (failure.step == inner::kStepInterpreter ? 1000 : 0);
        (void)!::write(ends[1], &answer, sizeof answer);
        ::_exit(0);
    }
    ::close(ends[1]);
    int status = 0;
    ::waitpid(child, &status, 0);
    int answer = WEXITSTATUS(status);
    (void)!::read(ends[0], &answer, sizeof answer);
    ::close(ends[0]);
    return answer;
}

TEST(Execute, FindsInThePathOfTheOrders) {
    TemporaryDirectory directory;
    write_program(directory, "b/tool", "#!/bin/sh\nexit $1\n");
    EXPECT_EQ(run({"tool", "3"}, (directory / "a") + ":" + (directory / "b")), 3);
    EXPECT_EQ(run({"tool", "3"}, directory / "a"), 200 + ENOENT);
}

TEST(Execute, ATextWithoutInterpreterLineGoesToTheShell) {
    TemporaryDirectory directory;
    write_program(directory, "tool", "exit $(($1 + 1))\n");
    EXPECT_EQ(run({directory / "tool", "4"}, ""), 5);
}

TEST(Execute, BeingRefusedIsToldUnlessALaterDirectoryServes) {
    TemporaryDirectory directory;
    directory.write("a/tool", "#!/bin/sh\n");
    write_program(directory, "b/tool", "#!/bin/sh\nexit 6\n");
    EXPECT_EQ(run({"tool"}, (directory / "a") + ":" + (directory / "none")), 200 + EACCES);
    EXPECT_EQ(run({"tool"}, (directory / "a") + ":" + (directory / "b")), 6);
}

TEST(Execute, AMissingInterpreterIsNotAMissingCommand) {
    TemporaryDirectory directory;
    write_program(directory, "tool", "#!/no/such/interpreter\n");
    EXPECT_EQ(run({directory / "tool"}, ""), 1200 + ENOENT);
    EXPECT_EQ(run({"tool"}, directory.path()), 1200 + ENOENT);
    EXPECT_EQ(run({directory / "absent"}, ""), 200 + ENOENT);
    EXPECT_EQ(run({""}, directory.path()), 200 + ENOENT);
}

}  // namespace
