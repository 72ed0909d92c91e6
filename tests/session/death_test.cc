// SPDX-License-Identifier: MIT
// Whatever is killed, the jail dies and leaves nothing behind.
#include <fstream>

#include "base/text.h"
#include "session/jail_fixture.h"

namespace {

using testing_support::eventually;
using testing_support::Running;

class Death : public testing_support::JailTest {
  protected:
    // A command with a daemon beside it; both write to files of the project as long as they live.
    Running start() {
        return Running(
            script("setsid sh -c 'while :; do echo x > daemon; sleep 0.002; done' & echo up;"
                   "while :; do echo x > command; sleep 0.002; done",
                   {"placeholder", project(".vscode")}));
    }
    bool is_beating(const std::string& name) const {
        std::filesystem::remove(project(name));
        for (int i = 0; i < 20; ++i) {
            if (std::filesystem::exists(project(name))) return true;
            ::poll(nullptr, 0, 2);
        }
        return false;
    }
    void expect_silence_and_no_ghost() const {
        // 100 ms are promised.
        ::poll(nullptr, 0, 100);
        EXPECT_FALSE(is_beating("daemon"));
        EXPECT_FALSE(is_beating("command"));
        EXPECT_FALSE(std::filesystem::exists(project(".vscode")));
    }
};

std::vector<pid_t> children_of(pid_t parent) {
    std::string path = "/proc/" + std::to_string(parent) + "/task/" + std::to_string(parent) + "/children";
    std::vector<pid_t> children;
    std::ifstream file(path);
    for (pid_t child; file >> child;) children.push_back(child);
    return children;
}

std::string name_of(pid_t process) {
    base::Result<std::string> name = base::read_file("/proc/" + std::to_string(process) + "/comm");
    return name ? std::string(base::trim(*name)) : "";
}

pid_t bubblewrap_of(pid_t supervisor) {
    for (pid_t child : children_of(supervisor)) {
        if (name_of(child) == "bwrap") return child;
    }
    return -1;
}

TEST_F(Death, OfTheSupervisor) {
    Running jail = start();
    ASSERT_TRUE(jail.says("up"));
    ASSERT_TRUE(eventually([&] { return is_beating("daemon"); }));
    ASSERT_TRUE(std::filesystem::exists(project(".vscode")));
    ::kill(jail.pid(), SIGKILL);
    expect_silence_and_no_ghost();
}

TEST_F(Death, OfBubblewrap) {
    Running jail = start();
    ASSERT_TRUE(jail.says("up"));
    pid_t bubblewrap = bubblewrap_of(jail.pid());
    ASSERT_GT(bubblewrap, 0);
    ::kill(bubblewrap, SIGKILL);
    EXPECT_EQ(jail.wait(), 137);
    EXPECT_NE(jail.said().find("killed from outside"), std::string::npos) << jail.said();
    expect_silence_and_no_ghost();
}

TEST_F(Death, OfPidOne) {
    Running jail = start();
    ASSERT_TRUE(jail.says("up"));
    std::vector<pid_t> stage = children_of(bubblewrap_of(jail.pid()));
    ASSERT_EQ(stage.size(), 1u);
    ::kill(stage[0], SIGKILL);
    EXPECT_EQ(jail.wait(), 137);
    EXPECT_NE(jail.said().find("killed from outside"), std::string::npos) << jail.said();
    expect_silence_and_no_ghost();
}

TEST_F(Death, OfTheKeeperIsNoHarm) {
    Running jail(
        script("echo up; while ! test -e stop; do sleep 0.01; done", {"placeholder", project(".vscode")}));
    ASSERT_TRUE(jail.says("up"));
    pid_t keeper = -1;
    ASSERT_TRUE(eventually([&] {
        for (pid_t child : children_of(jail.pid())) {
            if (name_of(child) != "bwrap") keeper = child;
        }
        return keeper > 0;
    }));
    ::kill(keeper, SIGKILL);
    directory_.write("p/stop", "");
    EXPECT_EQ(jail.wait(), 0);
    EXPECT_FALSE(std::filesystem::exists(project(".vscode")));
}

}  // namespace
