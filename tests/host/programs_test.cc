// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "host/facts.h"

namespace host {
namespace {

using base::Path;

constexpr std::string_view kBwrap = "/usr/bin/bwrap";

class BwrapTest : public testing::Test {
  protected:
    void SetUp() override { put("/usr/bin/bwrap", {.kind = Kind::file, .mode = 0755}); }
    void put(std::string_view path, Node node) { tree_.add(Path::known(path), std::move(node)); }
    TrustedProgram find(std::optional<std::string_view> pinned = std::nullopt, uint32_t owner = 0) const {
        return find_bwrap(tree_, pinned ? std::optional(Path::known(*pinned)) : std::nullopt, owner);
    }
    MemoryTree tree_;
};

TEST_F(BwrapTest, IsUsableWhereRootInstalledIt) {
    TrustedProgram bwrap = find();
    EXPECT_EQ(bwrap.state, ProgramState::usable) << bwrap.problem;
    EXPECT_EQ(bwrap.path.str(), kBwrap);
    EXPECT_FALSE(bwrap.is_setuid);
    EXPECT_TRUE(bwrap.problem.empty());
}

TEST_F(BwrapTest, SetUserIdIsNoted) {
    put(kBwrap, {.kind = Kind::file, .mode = 04755});
    EXPECT_EQ(find().state, ProgramState::usable);
    EXPECT_TRUE(find().is_setuid);
}

TEST_F(BwrapTest, MissingSaysHowToInstall) {
    TrustedProgram bwrap = find_bwrap(MemoryTree(), std::nullopt);
    EXPECT_EQ(bwrap.state, ProgramState::missing);
    EXPECT_EQ(bwrap.problem,
              "bubblewrap (bwrap) is not installed; install bubblewrap: apt install bubblewrap / dnf install "
              "bubblewrap");
}

TEST_F(BwrapTest, OwnedBySomeoneElseIsUntrusted) {
    put(kBwrap, {.kind = Kind::file, .mode = 0755, .owner = 1000});
    TrustedProgram bwrap = find();
    EXPECT_EQ(bwrap.state, ProgramState::untrusted);
    EXPECT_TRUE(
        bwrap.problem.starts_with("/usr/bin/bwrap is owned by uid 1000: only a root-owned bwrap is run"));
}

TEST_F(BwrapTest, WritableByOthersIsUntrusted) {
    for (uint32_t mode : {0775u, 0757u, 04777u}) {
        put(kBwrap, {.kind = Kind::file, .mode = mode});
        EXPECT_EQ(find().state, ProgramState::untrusted) << std::oct << mode;
    }
}

TEST_F(BwrapTest, EveryDirectoryAboveCounts) {
    for (std::string_view directory : {"/usr/bin", "/usr", "/"}) {
        SetUp();
        Node sound{.kind = Kind::directory, .mode = 0755};
        put(directory, {.kind = Kind::directory, .mode = 01777});
        EXPECT_EQ(find().state, ProgramState::untrusted) << directory << " is writable, sticky or not";
        put(directory, {.kind = Kind::directory, .mode = 0755, .owner = 1000});
        EXPECT_EQ(find().state, ProgramState::untrusted) << directory;
        put(directory, sound);
        EXPECT_EQ(find().state, ProgramState::usable) << directory;
    }
}

TEST_F(BwrapTest, ALinkIsJudgedAndRunByWhereItLeads) {
    put(kBwrap, {.kind = Kind::symlink, .link = "/home/ann/bwrap"});
    put("/home/ann", {.kind = Kind::directory, .mode = 0755, .owner = 1000});
    put("/home/ann/bwrap", {.kind = Kind::file, .mode = 0755});
    EXPECT_EQ(find().state, ProgramState::untrusted) << "root's file in a directory of ann's";
    put(kBwrap, {.kind = Kind::symlink, .link = "../../opt/bwrap"});
    put("/opt/bwrap", {.kind = Kind::file, .mode = 0755});
    EXPECT_EQ(find().path, Path::known("/opt/bwrap"));
}

TEST_F(BwrapTest, WhatIsNoProgramIsNotExecutable) {
    put(kBwrap, {.kind = Kind::directory, .mode = 0755});
    EXPECT_EQ(find().state, ProgramState::not_executable);
    put(kBwrap, {.kind = Kind::file, .mode = 0644});
    EXPECT_EQ(find().state, ProgramState::not_executable);
}

TEST_F(BwrapTest, AnUntrustedOneDoesNotHideAUsableOne) {
    put(kBwrap, {.kind = Kind::file, .mode = 0777});
    put("/usr/local/bin/bwrap", {.kind = Kind::file, .mode = 0755});
    EXPECT_EQ(find().path, Path::known("/usr/local/bin/bwrap"));
    EXPECT_EQ(find().state, ProgramState::usable);
}

TEST_F(BwrapTest, APinnedPathIsTheOnlyOneAndIsJudgedAlike) {
    EXPECT_EQ(find("/opt/site/bwrap").state, ProgramState::missing) << "no fall to /usr/bin/bwrap";
    EXPECT_TRUE(find("/opt/site/bwrap").problem.starts_with("/opt/site/bwrap does not exist"));
    put("/opt/site/bwrap", {.kind = Kind::file, .mode = 0755, .owner = 1000});
    EXPECT_EQ(find("/opt/site/bwrap").state, ProgramState::untrusted);
    put("/opt/site/bwrap", {.kind = Kind::file, .mode = 0755});
    EXPECT_EQ(find("/opt/site/bwrap").path, Path::known("/opt/site/bwrap"));
}

TEST_F(BwrapTest, TheTrustedOwnerIsTheOneThatIsAskedFor) {
    EXPECT_EQ(find(std::nullopt, 1000).state, ProgramState::untrusted);
}

TEST_F(BwrapTest, InsideAnotherUserNamespaceTheCauseIsNamed) {
    put(kBwrap, {.kind = Kind::file, .mode = 0755, .owner = 65534});
    EXPECT_NE(find().problem.find("inside another user namespace"), std::string::npos);
}

}  // namespace
}  // namespace host
