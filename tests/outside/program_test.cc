// SPDX-License-Identifier: MIT
#include "outside/program.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <vector>

namespace outside {
namespace {

class ProgramTest : public ::testing::Test {
  protected:
    ProgramTest() {
        char name[] = "/tmp/agent-sandbox-outside-XXXXXX";
        root_ = std::filesystem::canonical(::mkdtemp(name)).string();
    }
    ~ProgramTest() override { std::filesystem::remove_all(root_); }

    base::Path script(const std::string& name, const std::string& text) const {
        const std::string path = root_ + "/" + name;
        std::ofstream(path) << text;
        ::chmod(path.c_str(), 0700);
        return base::Path::known(path);
    }

    std::string root_;
};

// The status of the program, or 200 and the error number.
int run(const Program& program, std::vector<std::string> words, std::vector<std::string> variables = {}) {
    auto pointers_to = [](std::vector<std::string>& texts) {
        std::vector<char*> pointers;
        for (std::string& text : texts) pointers.push_back(text.data());
        pointers.push_back(nullptr);
        return pointers;
    };
    const pid_t child = ::fork();
    if (child == 0) ::_exit(200 + execute(program, pointers_to(words).data(), pointers_to(variables).data()));
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST_F(ProgramTest, IsTheFileThatWasOpened) {
    std::filesystem::copy_file("/bin/true", root_ + "/tool");
    base::Result<Program> program = Program::open(base::Path::known(root_ + "/tool"));
    ASSERT_TRUE(program.ok());
    EXPECT_EQ(run(*program, {"tool"}), 0);
    std::filesystem::copy_file("/bin/false", root_ + "/other");
    std::filesystem::rename(root_ + "/other", root_ + "/tool");
    EXPECT_EQ(run(*program, {"tool"}), 0);
    EXPECT_EQ(run(*Program::open(base::Path::known(root_ + "/tool")), {"tool"}), 1) << "the control";
}

TEST_F(ProgramTest, AScriptKnowsItsOwnName) {
    base::Result<Program> program =
        Program::open(script("tool", "#!/bin/sh\n[ \"$0\" = \"$WANTED\" ] && exit 7\n"));
    ASSERT_TRUE(program.ok());
    EXPECT_TRUE(program->is_script());
    EXPECT_EQ(run(*program, {"tool"}, {"WANTED=" + root_ + "/tool"}), 7);
}

TEST_F(ProgramTest, HasTheGivenEnvironmentAlone) {
    ::setenv("LEFT_BY_THE_CALLER", "1", 1);
    base::Result<Program> program = Program::open(base::Path::known("/bin/sh"));
    ASSERT_TRUE(program.ok());
    EXPECT_EQ(run(*program, {"sh", "-c", "exit ${LEFT_BY_THE_CALLER:-$GIVEN}"}, {"GIVEN=5"}), 5);
}

TEST_F(ProgramTest, FailuresHaveTheirReason) {
    EXPECT_FALSE(Program::open(base::Path::known(root_ + "/missing")).ok());
    EXPECT_FALSE(Program::open(base::Path::known(root_)).ok()) << "a directory";
    base::Path data = script("data", "text\n");
    EXPECT_EQ(run(*Program::open(data), {"data"}), 200 + ENOEXEC);
    ::chmod(data.c_str(), 0600);
    EXPECT_EQ(run(*Program::open(data), {"data"}), 200 + EACCES);
}

}  // namespace
}  // namespace outside
