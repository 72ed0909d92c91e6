// SPDX-License-Identifier: MIT
#include "session/directories.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "base/temporary_directory.h"
#include "session/running.h"

namespace {

namespace fs = std::filesystem;

constexpr const char* kLeft = "agent-sandbox-0123456789abcdef";
constexpr const char* kLiving = "agent-sandbox-fedcba9876543210";

class PrivateDirectoryTest : public testing::Test {
  protected:
    std::string path(const std::string& name) const { return directory_ / name; }
    plan::PrivateDirectory wanted(const std::string& name) const {
        plan::PrivateDirectory directory;
        directory.path = base::Path::known(path(name));
        return directory;
    }
    void leave(const std::string& name) const {
        fs::create_directories(path(name) + "/tmp/deep");
        fs::permissions(path(name), fs::perms::owner_all);
    }

    testing_support::TemporaryDirectory directory_;
};

TEST_F(PrivateDirectoryTest, IsMadeOnceAndRemoved) {
    session::PrivateDirectory directory, other;
    ASSERT_TRUE(directory.make(wanted(kLiving)));
    EXPECT_TRUE(fs::is_directory(path(kLiving) + "/tmp"));
    EXPECT_FALSE(other.make(wanted(kLiving)));
    EXPECT_TRUE(fs::exists(path(kLiving)));
    directory.remove();
    EXPECT_FALSE(fs::exists(path(kLiving)));
}

TEST_F(PrivateDirectoryTest, OfADeadSessionIsTakenAwayAndOfALivingOneIsNot) {
    session::PrivateDirectory directory;
    ASSERT_TRUE(directory.make(wanted(kLiving)));
    leave(kLeft);
    session::remove_stale_directories(path(""));
    EXPECT_FALSE(fs::exists(path(kLeft)));
    EXPECT_TRUE(fs::exists(path(kLiving) + "/tmp"));
}

// The keeper is such a process, and outlives the one that made the directory.
TEST_F(PrivateDirectoryTest, IsHeldByAForkedProcessToo) {
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    pid_t supervisor = ::fork();
    if (supervisor == 0) {
        session::PrivateDirectory directory;
        bool is_made = static_cast<bool>(directory.make(wanted(kLiving)));
        pid_t keeper = is_made ? ::fork() : -1;
        if (keeper == 0) ::pause();
        (void)!::write(ends[1], &keeper, sizeof keeper);
        ::_exit(0);  // as if killed: without cleanup
    }
    ::waitpid(supervisor, nullptr, 0);
    pid_t keeper = -1;
    ASSERT_EQ(::read(ends[0], &keeper, sizeof keeper), static_cast<ssize_t>(sizeof keeper));
    ASSERT_GT(keeper, 0);
    session::remove_stale_directories(path(""));
    EXPECT_TRUE(fs::exists(path(kLiving)));
    ::kill(keeper, SIGKILL);
    EXPECT_TRUE(testing_support::eventually([&] {
        session::remove_stale_directories(path(""));
        return !fs::exists(path(kLiving));
    }));
    ::close(ends[0]);
    ::close(ends[1]);
}

TEST_F(PrivateDirectoryTest, NothingElseIsTakenAway) {
    const std::vector<std::string> others = {"agent-sandbox-u1000", "agent-sandbox-session",
                                             "agent-sandbox-0123456789abcde",
                                             "agent-sandbox-0123456789abcdeg", "0123456789abcdef"};
    for (const std::string& name : others) leave(name);
    leave("elsewhere");
    fs::create_directory_symlink(path("elsewhere"), path(kLeft));
    directory_.write(kLiving, "a file");
    session::remove_stale_directories(path(""));
    for (const std::string& name : others) EXPECT_TRUE(fs::exists(path(name) + "/tmp/deep")) << name;
    EXPECT_TRUE(fs::is_symlink(path(kLeft)));
    EXPECT_TRUE(fs::exists(path("elsewhere") + "/tmp/deep"));
    EXPECT_TRUE(fs::exists(path(kLiving)));
}

// A process that makes a directory while another process removes it as left over waits, and makes it again.
TEST_F(PrivateDirectoryTest, IsMadeWhileOthersTidy) {
    pid_t tidier = ::fork();
    if (tidier == 0) {
        for (;;) session::remove_stale_directories(path(""));
    }
    int made = 0;
    for (; made < 200; ++made) {
        session::PrivateDirectory directory;
        if (!directory.make(wanted(kLiving)) || !fs::is_directory(path(kLiving) + "/tmp")) break;
    }
    EXPECT_EQ(made, 200);
    ::kill(tidier, SIGKILL);
    ::waitpid(tidier, nullptr, 0);
}

}  // namespace
