// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>
#include <unistd.h>

#include "host/facts.h"

namespace host {
namespace {

using base::Path;

constexpr uint32_t kAnn = 1000, kBob = 50123;

class IdentityTest : public testing::Test {
  protected:
    void SetUp() override {
        write("/etc/passwd",
              "root:x:0:0:root:/root:/bin/bash\n"
              "+nis\n"
              "\n"
              "short:x:1000\n"
              "ann:x:1000:1000:Ann,,,:/home/ann:/usr/bin/zsh\n"
              "late:x:1000:1000::/home/late:/bin/sh\n"
              "bare:x:7:7::/var/bare:");
        write("/etc/group", "root:x:0:\nann:x:1000:\nstaff:x:50:ann,bob");
        make_directory("/root", 0);
        make_directory("/home/ann", kAnn);
        make_directory("/data/ann", kAnn);
        make_directory("/nfs/home/bob", kBob);
        write("/usr/bin/zsh", "");
    }
    void write(std::string_view path, std::string content) {
        tree_.add(Path::known(path), Node{.kind = Kind::file, .mode = 0644}, std::move(content));
    }
    void make_directory(std::string_view path, uint32_t owner) {
        tree_.add(Path::known(path), Node{.kind = Kind::directory, .mode = 0755, .owner = owner});
    }
    base::Result<Identity> probe(uint32_t uid, uint32_t gid, Variables environment) const {
        return probe_identity(tree_, uid, gid, environment);
    }
    MemoryTree tree_;
};

TEST_F(IdentityTest, ComesFromTheFirstCompleteLineOfTheFiles) {
    base::Result<Identity> ann = probe(kAnn, kAnn, {});
    ASSERT_TRUE(ann) << ann.error().line();
    EXPECT_EQ(ann->user, "ann");
    EXPECT_EQ(ann->group, "ann");
    EXPECT_EQ(ann->shell, "/usr/bin/zsh");
    EXPECT_EQ(ann->home, Path::known("/home/ann"));
    EXPECT_EQ(ann->uid, kAnn);
    EXPECT_EQ(ann->gid, kAnn);
}

TEST_F(IdentityTest, TheAccountsHomeIsTheFilesWhateverHomeSays) {
    EXPECT_EQ(probe(kAnn, kAnn, {"HOME=/data/ann"})->home, Path::known("/data/ann"));
    EXPECT_EQ(account_home(tree_, kAnn), Path::known("/home/ann"));
    EXPECT_EQ(account_home(tree_, kBob), std::nullopt) << "a directory service alone knows this one";
    EXPECT_EQ(account_home(tree_, 7), std::nullopt) << "it is not there";
}

TEST_F(IdentityTest, AnAccountWithoutAShellHasThePosixOneAndAGroupWithoutANameItsNumber) {
    base::Result<Identity> bare = probe(7, 77, {});
    ASSERT_TRUE(bare);
    EXPECT_EQ(bare->shell, "/bin/sh");
    EXPECT_EQ(bare->group, "77");
}

TEST_F(IdentityTest, HomeOfTheEnvironmentWinsWhereItIsTheCallersOwn) {
    EXPECT_EQ(probe(kAnn, kAnn, {"HOME=/data/ann"})->home, Path::known("/data/ann"));
    tree_.add(Path::known("/link"), Node{.kind = Kind::symlink, .link = "data/ann"});
    EXPECT_EQ(probe(kAnn, kAnn, {"HOME=/link"})->home, Path::known("/link")) << "as the caller writes it";
}

TEST_F(IdentityTest, HomeOfTheEnvironmentIsNotBelievedOtherwise) {
    for (const char* home : {"HOME=/root", "HOME=/nfs/home/bob", "HOME=/none", "HOME=data/ann",
                             "HOME=", "HOME=/", "HOME=/usr/bin/zsh"}) {
        EXPECT_EQ(probe(kAnn, kAnn, {home})->home, Path::known("/home/ann")) << home;
    }
    // sudo may keep HOME: root must not use the user's home as its own.
    EXPECT_EQ(probe(0, 0, {"HOME=/home/ann"})->home, Path::known("/root"));
}

TEST_F(IdentityTest, AUserOfADirectoryServiceIsKnownByVariablesAndTheOwnerOfHome) {
    base::Result<Identity> bob = probe(kBob, 50, {"USER=bob", "HOME=/nfs/home/bob", "SHELL=/usr/bin/zsh"});
    ASSERT_TRUE(bob) << bob.error().line();
    EXPECT_EQ(bob->user, "bob");
    EXPECT_EQ(bob->group, "staff");
    EXPECT_EQ(bob->shell, "/usr/bin/zsh");
    EXPECT_EQ(bob->home, Path::known("/nfs/home/bob"));
}

TEST_F(IdentityTest, NamesThatBelongToOthersOrBreakALineAreNotBelieved) {
    auto name = [&](Variables environment) {
        environment.push_back("HOME=/nfs/home/bob");
        return probe(kBob, 50, environment)->user;
    };
    EXPECT_EQ(name({"USER=root", "LOGNAME=bobby"}), "bobby");
    EXPECT_EQ(name({"USER=bob:x:0:0", "LOGNAME="}), "bob") << "the name of the home directory";
    EXPECT_EQ(name({"USER=a\nroot:x:0:0::/:/bin/sh"}), "bob");
    EXPECT_EQ(name({"USER=-x"}), "bob");
    EXPECT_EQ(name({"USER=DOMAIN\\bob"}), "DOMAIN\\bob");
}

TEST_F(IdentityTest, AShellThatDoesNotExistIsReplaced) {
    EXPECT_EQ(probe(kBob, 50, {"HOME=/nfs/home/bob", "SHELL=/opt/none"})->shell, "/bin/sh");
    EXPECT_EQ(probe(kBob, 50, {"HOME=/nfs/home/bob", "SHELL=zsh"})->shell, "/bin/sh");
}

TEST_F(IdentityTest, SaysWhatToDoWhereNothingIsKnown) {
    EXPECT_EQ(probe(kBob, 50, {"USER=bob"}).error().line(),
              "cannot tell who uid 50123 is: /etc/passwd does not say, and HOME is not set; "
              "set HOME to your home directory and USER to your name");
    EXPECT_EQ(probe(kBob, 50, {"USER=bob", "HOME=/home/ann"}).error().what,
              "cannot tell who uid 50123 is: /etc/passwd does not say, and HOME=/home/ann is not a directory "
              "of that user");
}

TEST_F(IdentityTest, WorksWithoutAnyFile) {
    MemoryTree bare;
    bare.add(Path::known("/work"), Node{.kind = Kind::directory, .mode = 0755, .owner = 5});
    base::Result<Identity> someone = probe_identity(bare, 5, 6, {"HOME=/work", "USER=builder"});
    ASSERT_TRUE(someone);
    EXPECT_EQ(someone->user, "builder");
    EXPECT_EQ(someone->group, "6");
}

TEST(ProbeIdentity, KnowsTheOneWhoRunsThisTest) {
    base::Result<Identity> self = probe_identity(Variables{});
    ASSERT_TRUE(self) << self.error().line();
    EXPECT_EQ(self->uid, ::getuid());
    EXPECT_FALSE(self->user.empty());
}

TEST(Variable, IsFoundByItsWholeName) {
    Variables environment{"HOMER=x", "HOME=/a", "HOME=/b", "EMPTY=", "nothing"};
    EXPECT_EQ(variable(environment, "HOME"), "/a");
    EXPECT_EQ(variable(environment, "EMPTY"), "");
    EXPECT_FALSE(variable(environment, "nothing"));
    EXPECT_FALSE(variable(environment, "HOM"));
}

}  // namespace
}  // namespace host
