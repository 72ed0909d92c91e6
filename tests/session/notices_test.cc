// SPDX-License-Identifier: MIT
#include "session/helpers/notices.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <ctime>
#include <filesystem>

namespace session {
namespace {

class LeftSockets : public testing::Test {
  protected:
    void SetUp() override {
        char pattern[] = "/tmp/agent-sandbox-notices.XXXXXX";
        ASSERT_NE(::mkdtemp(pattern), nullptr);
        state_ = pattern;
        std::filesystem::create_directory(state_ + "/notify");
    }
    void TearDown() override { std::filesystem::remove_all(state_); }

    std::string make(const std::string& name, mode_t type, time_t age) const {
        std::string path = state_ + "/notify/" + name;
        EXPECT_EQ(::mknod(path.c_str(), type | 0600, 0), 0);
        time_t then = ::time(nullptr) - age;
        struct timespec times[] = {{then, 0}, {then, 0}};
        EXPECT_EQ(::utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
        return path;
    }

    std::string state_;
};

TEST_F(LeftSockets, AreRemovedWhenTheyAreOld) {
    std::string old = make("old", S_IFSOCK, 7200);
    std::string young = make("young", S_IFSOCK, 5);
    std::string file = make("file", S_IFREG, 7200);
    remove_left_sockets(state_ + "/notify");
    EXPECT_FALSE(std::filesystem::exists(old));
    EXPECT_TRUE(std::filesystem::exists(young)) << "of a session that is just starting";
    EXPECT_TRUE(std::filesystem::exists(file)) << "not ours";
}

TEST_F(LeftSockets, NeedNoDirectory) {
    remove_left_sockets(state_ + "/nowhere");
}

// No file exists yet: no descriptor to watch, and no time to wait for.
TEST(Notices, AreNothingUntilOpened) {
    Notices notices;
    Notices::Clock::time_point now = Notices::Clock::now();
    EXPECT_EQ(notices.events(now), -1);
    EXPECT_EQ(notices.wait(now), -1);
    EXPECT_TRUE(notices.path().empty());
    notices.finish();
}

}  // namespace
}  // namespace session
