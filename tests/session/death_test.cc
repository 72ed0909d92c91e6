// SPDX-License-Identifier: MIT
// Whichever process is killed, the jail dies and leaves nothing behind.
#include <fstream>

#include "base/text.h"
#include "session/jail_fixture.h"

namespace {

using testing_support::eventually;
using testing_support::Running;

class Death : public testing_support::JailTest {
  protected:
    // A command and a daemon; both write to files of the project as long as they live.
    Running start(const std::string& backend = "native") {
        return Running(
            script("setsid sh -c 'while :; do echo x > daemon; sleep 0.002; done' & echo up;"
                   "while :; do echo x > command; sleep 0.002; done",
                   {"placeholder", project(".vscode"), "backend", backend}));
    }
    bool is_beating(const std::string& name) const {
        std::filesystem::remove(project(name));
        for (int i = 0; i < 20; ++i) {
            if (std::filesystem::exists(project(name))) return true;
            testing_support::let_others_run(std::chrono::milliseconds(2));
        }
        return false;
    }
    void expect_silence_and_no_ghost() const {
        // The documented limit is 100 ms.
        testing_support::let_others_run(std::chrono::milliseconds(100));
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

pid_t child_called(pid_t supervisor, const std::string& name) {
    for (pid_t child : children_of(supervisor)) {
        if (name_of(child) == name) return child;
    }
    return -1;
}

pid_t bubblewrap_of(pid_t supervisor) {
    return child_called(supervisor, "bwrap");
}

// For the native backend: the only child that has children.
pid_t stage_of(pid_t supervisor) {
    for (pid_t child : children_of(supervisor)) {
        if (!children_of(child).empty()) return child;
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
    Running jail = start("bwrap");
    ASSERT_TRUE(jail.says("up"));
    pid_t bubblewrap = bubblewrap_of(jail.pid());
    ASSERT_GT(bubblewrap, 0);
    ::kill(bubblewrap, SIGKILL);
    EXPECT_EQ(jail.wait(), 137);
    EXPECT_NE(jail.said().find("killed from outside"), std::string::npos) << jail.said();
    expect_silence_and_no_ghost();
}

TEST_F(Death, OfPidOne) {
    for (const char* backend : {"native", "bwrap"}) {
        Running jail = start(backend);
        ASSERT_TRUE(jail.says("up"));
        bool is_native = backend == std::string("native");
        std::vector<pid_t> below =
            is_native ? std::vector{stage_of(jail.pid())} : children_of(bubblewrap_of(jail.pid()));
        ASSERT_EQ(below.size(), 1u);
        ASSERT_GT(below[0], 0);
        ::kill(below[0], SIGKILL);
        EXPECT_EQ(jail.wait(), 137);
        EXPECT_NE(jail.said().find("killed from outside"), std::string::npos) << jail.said();
        expect_silence_and_no_ghost();
    }
}

TEST_F(Death, OfTheKeeperIsNoHarm) {
    Running jail(
        script("echo up; while ! test -e stop; do sleep 0.01; done", {"placeholder", project(".vscode")}));
    ASSERT_TRUE(jail.says("up"));
    pid_t keeper = -1;
    ASSERT_TRUE(eventually([&] {
        for (pid_t child : children_of(jail.pid())) {
            if (children_of(child).empty()) keeper = child;
        }
        return keeper > 0 && stage_of(jail.pid()) > 0;
    }));
    ::kill(keeper, SIGKILL);
    directory_.write("p/stop", "");
    EXPECT_EQ(jail.wait(), 0);
    EXPECT_FALSE(std::filesystem::exists(project(".vscode")));
}

// The command continues without a network, and the session reports this, at once and at its end.
TEST_F(Death, OfTheGateway) {
    Running jail(
        script("echo up; while ! test -e stop; do sleep 0.01; done; exit 7", {"network", "filtered"}));
    ASSERT_TRUE(jail.says("up"));
    pid_t gateway = child_called(jail.pid(), "asb-gateway");
    ASSERT_GT(gateway, 0);
    ::kill(gateway, SIGKILL);
    EXPECT_TRUE(jail.says("the jail has no network from here on"));
    directory_.write("p/stop", "");
    EXPECT_EQ(jail.wait(), 7);
    EXPECT_NE(jail.said().find("the network was lost"), std::string::npos) << jail.said();
}

TEST_F(Death, OfTheGatewayIsToldOnlyWhenItHappens) {
    Running jail(script("exit 7", {"network", "filtered"}));
    EXPECT_EQ(jail.wait(), 7);
    EXPECT_EQ(jail.said().find("network"), std::string::npos) << jail.said();
}

// Simulates bubblewrap being killed while it creates its namespaces: it leaves a child that waits for ever
// and keeps all descriptors open.
TEST_F(Death, OfBubblewrapHalfWayLeavesNoOrphan) {
    directory_.write("bwrap", "#!/bin/sh\nsleep 1000 &\necho $! > " + project("orphan") + "\nkill -9 $$\n");
    std::filesystem::permissions(directory_ / "bwrap", std::filesystem::perms::owner_all);
    for (const char* word : {"network", "in"}) {
        std::string value = word == std::string("in") ? project() : "filtered";
        Running jail(script("true", {"backend", "bwrap", "bwrap", directory_ / "bwrap", word, value}));
        EXPECT_NE(jail.wait(), 0);
        pid_t orphan = -1;
        std::ifstream(project("orphan")) >> orphan;
        ASSERT_GT(orphan, 0);
        EXPECT_EQ(::kill(orphan, 0), -1);
        EXPECT_EQ(errno, ESRCH);
    }
}

// The launch fails while bubblewrap is working. A process left by bubblewrap would keep our output open.
TEST_F(Death, OfALaunchThatIsGivenUpLeavesNoOrphan) {
    std::filesystem::create_directory(directory_ / "state");
    directory_.write("state/sessions", "no directory");
    for (int i = 0; i < 10; ++i) {
        Running jail(script("true", {"network", "filtered", "record", "required"}));
        EXPECT_NE(jail.wait(), 0);
        ASSERT_TRUE(jail.is_closed());
        EXPECT_NE(jail.said().find("sessions"), std::string::npos) << jail.said();
    }
}

}  // namespace
