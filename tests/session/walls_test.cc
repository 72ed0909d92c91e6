// SPDX-License-Identifier: MIT
// The walls of a real jail: what they still refuse when a mount is wrong, and what stays allowed.
#include "landlock/wall.h"
#include "session/jail_fixture.h"

namespace {

using testing_support::JailTest;
using testing_support::Running;

class ConfinementTest : public JailTest {
  protected:
    // A directory that the second wall does not allow writing to; the tests mount it writable.
    std::string elsewhere() const {
        std::string path = directory_ / "elsewhere";
        std::filesystem::create_directories(path);
        return path;
    }
    int status_of(const std::string& text, std::vector<std::string> options = {}) {
        Running running(script(text, std::move(options)));
        int status = running.wait();
        said_ = running.said();
        return status;
    }
    std::string said_;
};

TEST_F(ConfinementTest, AMistakeInTheMountsIsCaughtByTheSecondWall) {
    if (landlock::kernel_abi() < 2) GTEST_SKIP() << "this kernel has no Landlock that can be used";
    std::string place = elsewhere();
    EXPECT_NE(status_of("touch /mistake/caught", {"mistake", place}), 0);
    EXPECT_NE(said_.find("Permission denied"), std::string::npos) << said_;
    EXPECT_FALSE(std::filesystem::exists(place + "/caught"));
    EXPECT_EQ(status_of("touch /mistake/control", {"wall-less", place}), 0) << said_;
    EXPECT_TRUE(std::filesystem::exists(place + "/control"));
}

TEST_F(ConfinementTest, TheProjectAndTemporaryFilesAreWritableBehindTheWall) {
    EXPECT_EQ(
        status_of(
            "echo x >a && mkdir d && mv a d/b && ln d/b c && echo y >/tmp/z && mv /tmp/z d/z && rm -r d"),
        0)
        << said_;
}

TEST_F(ConfinementTest, OutputCanBeOpenedAgainThroughItsDescriptor) {
    EXPECT_EQ(status_of("echo out >/dev/stdout; echo error >/dev/stderr; echo null >/dev/null"), 0) << said_;
    EXPECT_NE(said_.find("out\n"), std::string::npos) << said_;
}

TEST_F(ConfinementTest, TheFilterIsOnForTheCommandAndForPidOne) {
    EXPECT_EQ(status_of("grep -q '^Seccomp:.2$' /proc/self/status && grep -q '^Seccomp:.2$' /proc/1/status"),
              0)
        << said_;
}

TEST_F(ConfinementTest, NoCoreDumpCanBeAskedFor) {
    EXPECT_EQ(status_of("ulimit -c 0; ulimit -Sc unlimited; grep 'core file' /proc/self/limits"), 0) << said_;
    EXPECT_NE(said_.find("Max core file size        1                    1 "), std::string::npos) << said_;
}

}  // namespace
