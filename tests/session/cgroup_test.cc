// SPDX-License-Identifier: MIT
// Uses a directory that looks like a tree of control groups; only the kernel implements what the files do.
#include "session/limits/limits.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "base/file.h"
#include "base/temporary_directory.h"

namespace {

using session::Cgroup;

class CgroupTest : public testing::Test {
  protected:
    // As systemd delegates it: the slice enables controllers for its children, the scope in it contains
    // processes.
    void SetUp() override {
        directory_.write("user/cgroup.procs", "");
        directory_.write("user/cgroup.subtree_control", "cpu memory pids\n");
        directory_.write("user/shell.scope/cgroup.procs", "1\n");
        directory_.write("user/shell.scope/cgroup.subtree_control", "");
    }
    std::optional<Cgroup> make(const std::string& membership, const Cgroup::Bounds& bounds) {
        return Cgroup::make(directory_.path(), membership, bounds);
    }
    std::string content(const std::string& name) const { return *base::read_file(directory_ / name); }
    static size_t groups_in(const std::string& directory) {
        size_t count = 0;
        for (const auto& entry : std::filesystem::directory_iterator(directory))
            count += entry.is_directory();
        return count;
    }

    testing_support::TemporaryDirectory directory_;
};

TEST_F(CgroupTest, IsMadeBesideTheCallersAndBounded) {
    std::optional<Cgroup> made =
        make("1:name=systemd:/x\n0::/user/shell.scope\n", {.processes = 5, .memory = 4096});
    ASSERT_TRUE(made);
    std::string own = "user/agent-sandbox-" + std::to_string(::getpid());
    EXPECT_EQ(content(own + "/pids.max"), "7");  // bubblewrap and pid 1 are in it too
    EXPECT_EQ(content(own + "/memory.max"), "4096");
    EXPECT_EQ(content(own + "/memory.swap.max"), "0");
    EXPECT_EQ(content(own + "/memory.oom.group"), "1");
    EXPECT_TRUE(base::write_all(made->entrance(), "0"));
    EXPECT_EQ(content(own + "/cgroup.procs"), "0");
}

TEST_F(CgroupTest, TellsWhatTheKernelDid) {
    std::optional<Cgroup> made = make("0::/user/shell.scope\n", {.processes = 5});
    ASSERT_TRUE(made);
    EXPECT_EQ(made->events().refused_processes, 0u);
    EXPECT_FALSE(made->events().ran_out_of_memory);
    std::string own = "user/agent-sandbox-" + std::to_string(::getpid());
    directory_.write(own + "/pids.events", "max 12\n");
    directory_.write(own + "/memory.events", "low 0\noom 1\noom_kill 3\n");
    EXPECT_EQ(made->events().refused_processes, 12u);
    EXPECT_TRUE(made->events().ran_out_of_memory);
}

TEST_F(CgroupTest, IsGoneAfterwards) {
    std::optional<Cgroup> made = make("0::/user/shell.scope\n", {.processes = 5});
    ASSERT_TRUE(made);
    EXPECT_EQ(groups_in(directory_ / "user"), 2u);
    // The files of a real group do not prevent its removal, so remove these first.
    std::string own = directory_ / ("user/agent-sandbox-" + std::to_string(::getpid()));
    for (const char* file : {"pids.max", "cgroup.procs"}) std::filesystem::remove(own + "/" + file);
    made->remove();
    EXPECT_EQ(groups_in(directory_ / "user"), 1u);
}

TEST_F(CgroupTest, IsLookedForWhereControllersAreHandedDown) {
    directory_.write("user/cgroup.subtree_control", "cpu\n");
    EXPECT_FALSE(make("0::/user/shell.scope\n", {.memory = 5}));
    EXPECT_EQ(groups_in(directory_ / "user"), 1u);
}

TEST_F(CgroupTest, NeedsVersionTwoAndAPlaceThatCanBeSeen) {
    EXPECT_FALSE(make("4:memory:/user/shell.scope\n", {.memory = 5}));
    EXPECT_FALSE(make("0::/../user\n", {.memory = 5}));
    EXPECT_FALSE(make("", {.memory = 5}));
}

}  // namespace
