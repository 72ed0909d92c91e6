// SPDX-License-Identifier: MIT
// Which paths that a command uses are reported, and which are not.
#include "tracer/files.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "base/path.h"

namespace {

using base::Path;
using plan::Access;
using seccomp::Use;
using tracer::Inside;

plan::PathRule rule(std::string_view path, Access access) {
    return {.path = Path::known(path), .access = access, .reason = {"a reason", {}}};
}

class Files : public testing::Test {
  protected:
    Files() {
        plan_.backend = base::Backend::native;
        plan_.project = Path::known("/home/ann/project");
        plan_.environment.passed.push_back({"HOME", "/home/ann", {}});
        plan_.rules = {rule("/home/ann/.ssh", Access::hidden), rule("/home/ann/project", Access::writable),
                       rule("/home/ann/project/.env", Access::masked),
                       rule("/home/ann/project/.git/config", Access::readonly),
                       rule("/usr", Access::readonly)};
    }

    std::optional<tracer::ClosedFile> judge(std::string_view path, Use use, Inside inside) const {
        return tracer::judge(plan_, tree_, Path::known(path), use, inside);
    }

    plan::Plan plan_;
    host::MemoryTree tree_ = *host::MemoryTree::parse(
        "f /home/ann/.ssh/id_rsa\nf /home/ann/project/.env\nf /home/ann/project/.git/config\n"
        "f /home/ann/project/main.c\nf /usr/bin/cc\nf /home/ann/data/set\nl /home/ann/project/key "
        "/home/ann/.ssh/id_rsa\n");
};

TEST_F(Files, TellsAHiddenFileWithItsRule) {
    auto closed = judge("/home/ann/.ssh/id_rsa", Use::read, Inside::nothing);
    ASSERT_TRUE(closed);
    EXPECT_EQ(closed->cause, "hidden");
    EXPECT_EQ(closed->rule, "hidden /home/ann/.ssh");
    EXPECT_EQ(closed->reason, "a reason");
    EXPECT_FALSE(closed->is_write);
}

TEST_F(Files, TellsAFileThatNoRuleShowsWithTheFlagThatWould) {
    auto closed = judge("/home/ann/data/set", Use::look, Inside::nothing);
    ASSERT_TRUE(closed);
    EXPECT_EQ(closed->rule, "");
    EXPECT_EQ(closed->change, "--ro /home/ann/data/set");
}

TEST_F(Files, TellsAFileAsHiddenWhereTheJailHasAnEmptyPlaceOfItsOwn) {
    plan_.rules.insert(plan_.rules.begin(), {.path = Path::known("/home/ann"),
                                             .access = Access::writable,
                                             .backing = plan::Backing::ephemeral,
                                             .reason = {"a home of the jail's", {}}});
    auto closed = judge("/home/ann/data/set", Use::read, Inside::nothing);
    ASSERT_TRUE(closed);
    EXPECT_EQ(closed->cause, "hidden");
    EXPECT_EQ(closed->change, "--ro /home/ann/data/set");
}

TEST_F(Files, FollowsLinks) {
    auto closed = judge("/home/ann/project/key", Use::read, Inside::nothing);
    ASSERT_TRUE(closed);
    EXPECT_EQ(closed->path, "/home/ann/project/key");
    EXPECT_EQ(closed->rule, "hidden /home/ann/.ssh");
}

TEST_F(Files, TellsNothingThatIsOnNeitherSide) {
    for (Use use : {Use::look, Use::read, Use::change, Use::make, Use::put})
        EXPECT_FALSE(judge("/opt/nowhere/file", use, Inside::nothing)) << static_cast<int>(use);
    EXPECT_FALSE(judge("/home/ann/.ssh/missing", Use::read, Inside::nothing));
}

TEST_F(Files, TellsNothingThatIsOpen) {
    EXPECT_FALSE(judge("/home/ann/project/main.c", Use::change, Inside::something));
    EXPECT_FALSE(judge("/usr/bin/cc", Use::read, Inside::something));
    EXPECT_FALSE(judge("/proc/1/environ", Use::read, Inside::something));
}

TEST_F(Files, TellsAMaskedFileWhenItIsRead) {
    EXPECT_FALSE(judge("/home/ann/project/.env", Use::look, Inside::something));
    auto closed = judge("/home/ann/project/.env", Use::read, Inside::something);
    ASSERT_TRUE(closed);
    EXPECT_EQ(closed->cause, "masked");
    EXPECT_EQ(closed->change, "project.unmask = [\".env\"]");
}

TEST_F(Files, TellsAWriteToWhatIsProtected) {
    EXPECT_FALSE(judge("/home/ann/project/.git/config", Use::read, Inside::something));
    auto closed = judge("/home/ann/project/.git/config", Use::change, Inside::something);
    ASSERT_TRUE(closed);
    EXPECT_EQ(closed->cause, "readonly");
    EXPECT_TRUE(closed->is_write);
    EXPECT_EQ(closed->change, "project.unprotect = [\".git/config\"]");
}

TEST_F(Files, TellsNoWriteThatTheCallerCouldNotDoOutside) {
    EXPECT_FALSE(judge("/usr/bin/cc", Use::change, Inside::something));
    EXPECT_FALSE(judge("/usr/bin/new", Use::put, Inside::nothing));
}

TEST_F(Files, TellsNothingOfANameThatIsThereAlready) {
    EXPECT_FALSE(judge("/home/ann/.ssh", Use::make, Inside::something));
    EXPECT_TRUE(judge("/home/ann/.ssh/new", Use::make, Inside::nothing));
}

// Threat: the digest proposes to open everything there, and the user follows it.
TEST_F(Files, ProposesNeitherTheHomeNorAnythingAboveTheProject) {
    for (std::string_view path : {"/home/ann", "/home", "/"}) {
        auto closed = judge(path, Use::read, Inside::nothing);
        EXPECT_TRUE(!closed || closed->change.empty()) << path;
    }
}

TEST(UseOfFlags, SaysWhatOpenWants) {
    using tracer::use_of_flags;
    EXPECT_EQ(use_of_flags(O_RDONLY | O_CLOEXEC, Inside::nothing), Use::read);
    EXPECT_EQ(use_of_flags(O_PATH, Inside::nothing), Use::look);
    EXPECT_EQ(use_of_flags(O_WRONLY, Inside::nothing), Use::change);
    EXPECT_EQ(use_of_flags(O_RDONLY | O_TRUNC, Inside::nothing), Use::change);
    EXPECT_EQ(use_of_flags(O_WRONLY | O_CREAT, Inside::nothing), Use::put);
    EXPECT_EQ(use_of_flags(O_RDONLY | O_CREAT, Inside::nothing), Use::put);
    EXPECT_EQ(use_of_flags(O_RDONLY | O_CREAT, Inside::something), Use::read);
    EXPECT_EQ(use_of_flags(O_WRONLY | O_CREAT | O_EXCL, Inside::nothing), Use::make);
    EXPECT_EQ(use_of_flags(O_RDWR | O_TMPFILE, Inside::something), Use::put);
    EXPECT_EQ(tracer::use_of_mode(R_OK | W_OK), Use::change);
    EXPECT_EQ(tracer::use_of_mode(F_OK), Use::look);
}

}  // namespace
