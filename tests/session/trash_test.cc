// SPDX-License-Identifier: MIT
#include "session/guard/trash.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "base/temporary_directory.h"

namespace {

using base::Path;
using session::empty_trash;
using session::Trash;

class TrashTest : public testing::Test {
  protected:
    void SetUp() override {
        for (const char* name : {"p/.vscode", "state"})
            std::filesystem::create_directories(directory_ / name);
    }
    bool take(Trash& trash, const std::string& name) {
        base::Fd parent(::open((directory_ / "p").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
        return trash.take(parent.get(), Path::known(directory_ / ("p/" + name)));
    }
    bool exists(const std::string& name) const { return std::filesystem::exists(directory_ / name); }
    bool is_empty() const { return std::filesystem::is_empty(directory_ / "state/trash"); }

    testing_support::TemporaryDirectory directory_;
    Trash trash_{directory_ / "state"};
};

TEST_F(TrashTest, WhatIsTakenIsGoneAtOnceAndRemovedLater) {
    ASSERT_TRUE(take(trash_, ".vscode"));
    EXPECT_FALSE(exists("p/.vscode"));
    EXPECT_FALSE(is_empty());
    empty_trash(directory_ / "state");
    EXPECT_TRUE(is_empty());
}

TEST_F(TrashTest, WhatHoldsSomethingAfterAllGoesBack) {
    // A process whose working directory this is writes into it after the move.
    base::Fd held(::open((directory_ / "p/.vscode").c_str(), O_RDONLY | O_DIRECTORY));
    ASSERT_TRUE(take(trash_, ".vscode"));
    base::Fd file(::openat(held.get(), "tasks.json", O_CREAT | O_WRONLY, 0600));
    ASSERT_TRUE(file);
    empty_trash(directory_ / "state");
    EXPECT_TRUE(exists("p/.vscode/tasks.json"));
    EXPECT_TRUE(is_empty());
}

TEST_F(TrashTest, AFileThatTookThePlaceGoesBack) {
    directory_.write("p/mine", "of the user");
    ASSERT_TRUE(take(trash_, "mine"));
    empty_trash(directory_ / "state");
    EXPECT_TRUE(exists("p/mine"));
}

TEST_F(TrashTest, NothingIsLostWhereItsPlaceIsTaken) {
    base::Fd held(::open((directory_ / "p/.vscode").c_str(), O_RDONLY | O_DIRECTORY));
    ASSERT_TRUE(take(trash_, ".vscode"));
    base::Fd file(::openat(held.get(), "tasks.json", O_CREAT | O_WRONLY, 0600));
    directory_.write("p/.vscode/other", "");
    for (int i = 0; i < 2; ++i) empty_trash(directory_ / "state");
    EXPECT_TRUE(exists("p/.vscode/other"));
    EXPECT_FALSE(exists("p/.vscode/tasks.json"));
    struct stat status;
    EXPECT_EQ(::fstatat(held.get(), "tasks.json", &status, 0), 0);
}

TEST_F(TrashTest, LeftoversOfAKilledSessionAreRemovedByTheNext) {
    std::filesystem::create_directories(directory_ / "state/trash/77.1.2/%gone%.idea");
    empty_trash(directory_ / "state");
    EXPECT_TRUE(is_empty());
}

TEST_F(TrashTest, WhatCantBeMovedStays) {
    std::string deep(200, 'd');
    std::filesystem::create_directories(directory_ / ("p/" + deep + "/" + deep));
    base::Fd parent(::open((directory_ / ("p/" + deep)).c_str(), O_PATH | O_DIRECTORY));
    EXPECT_FALSE(trash_.take(parent.get(), Path::known(directory_ / ("p/" + deep + "/" + deep))));
    EXPECT_TRUE(exists("p/" + deep + "/" + deep));
    std::filesystem::create_directory(directory_ / "p/50%");
    EXPECT_FALSE(take(trash_, "50%"));
    Trash nowhere("/proc/no/such");
    EXPECT_FALSE(take(nowhere, ".vscode"));
    EXPECT_TRUE(exists("p/.vscode"));
}

TEST_F(TrashTest, AnotherFileSystemIsTooFar) {
    if (!std::filesystem::exists("/dev/shm")) GTEST_SKIP() << "no second file system";
    std::string far = "/dev/shm/agent-sandbox-trash-test." + std::to_string(::getpid());
    std::filesystem::create_directory(far);
    base::Fd parent(::open("/dev/shm", O_PATH | O_DIRECTORY));
    struct stat here, there;
    ASSERT_EQ(::stat(far.c_str(), &there), 0);
    ASSERT_EQ(::stat(directory_.path().c_str(), &here), 0);
    EXPECT_EQ(trash_.take(parent.get(), Path::known(far)), here.st_dev == there.st_dev);
    EXPECT_EQ(std::filesystem::exists(far), here.st_dev != there.st_dev);
    std::filesystem::remove(far);
}

}  // namespace
