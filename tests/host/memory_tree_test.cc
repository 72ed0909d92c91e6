// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "host/tree.h"

namespace host {
namespace {

using base::Path;

constexpr std::string_view kListing =
    "# a small machine\n"
    "\n"
    "l /bin usr/bin\n"
    "f /usr/bin/sh 0755\n"
    "f /etc/hosts 127.0.0.1 localhost\\n::1 localhost\\n\n"
    "f /etc/shadow 0640 root:*:\n"
    "d /etc/private 0750\n"
    "s /run/docker.sock 0660\n"
    "c /dev/nvidia0\n"
    "d /tmp 01777\n"
    "d /home/ann/code\n"
    "f /home/ann/code/My\\sNotes.txt 0600 a  b\n"
    "d /home/ann/code-old\n"
    "r /data/shared\n"
    "f /data/shared/below/file\n";

class MemoryTreeTest : public testing::Test {
  protected:
    void SetUp() override {
        base::Result<MemoryTree> parsed = MemoryTree::parse(kListing);
        ASSERT_TRUE(parsed) << parsed.error().line();
        tree_ = *std::move(parsed);
    }
    std::optional<Node> look(std::string_view path) const { return tree_.look(Path::known(path)); }
    MemoryTree tree_;
};

TEST_F(MemoryTreeTest, KnowsEveryKind) {
    EXPECT_EQ(look("/bin")->kind, Kind::symlink);
    EXPECT_EQ(look("/bin")->link, "usr/bin");
    EXPECT_EQ(look("/usr/bin/sh")->kind, Kind::file);
    EXPECT_EQ(look("/home/ann")->kind, Kind::directory);
    EXPECT_EQ(look("/run/docker.sock")->kind, Kind::socket);
    EXPECT_EQ(look("/dev/nvidia0")->kind, Kind::device);
    EXPECT_FALSE(look("/home/bob"));
}

TEST_F(MemoryTreeTest, ModesAreTheUsualOnesUnlessWritten) {
    EXPECT_EQ(look("/usr/bin/sh")->mode, 0755u);
    EXPECT_EQ(look("/etc/hosts")->mode, 0644u);
    EXPECT_EQ(look("/etc/private")->mode, 0750u);
    EXPECT_EQ(look("/etc")->mode, 0755u);
    EXPECT_EQ(look("/tmp")->mode, 01777u);
    EXPECT_EQ(look("/run/docker.sock")->mode, 0660u);
}

TEST_F(MemoryTreeTest, SystemTreesBelongToRootAndTheRestToTheCaller) {
    EXPECT_EQ(look("/")->owner, 0u);
    EXPECT_EQ(look("/home")->owner, 0u);
    EXPECT_EQ(look("/usr/bin/sh")->owner, 0u);
    EXPECT_EQ(look("/home/ann")->owner, 1000u);
}

TEST_F(MemoryTreeTest, LooksThroughLinksOnTheWayAsTheKernelDoes) {
    EXPECT_EQ(look("/bin/sh")->kind, Kind::file);
    EXPECT_FALSE(look("/bin/none"));
    EXPECT_FALSE(look("/none/sh"));
    EXPECT_FALSE(look("/etc/hosts/x"));
}

TEST_F(MemoryTreeTest, ListsOnlyDirectChildrenInOrder) {
    std::vector<Entry> entries = tree_.list(Path::known("/home/ann"));
    ASSERT_EQ(entries.size(), 2u);
    EXPECT_EQ(entries[0].name, "code");
    EXPECT_EQ(entries[1].name, "code-old");
    EXPECT_EQ(tree_.list(Path::known("/home/ann/code")).at(0).name, "My Notes.txt");
    EXPECT_EQ(tree_.list(Path::known("/bin")).size(), 1u) << "through a link";
    EXPECT_EQ(tree_.list(Path()).size(), 8u);
    EXPECT_TRUE(tree_.list(Path::known("/none")).empty());
    EXPECT_TRUE(tree_.list(Path::known("/etc/hosts")).empty());
}

TEST_F(MemoryTreeTest, ReadsContentsWithEscapes) {
    EXPECT_EQ(*tree_.read(Path::known("/etc/hosts"), 100), "127.0.0.1 localhost\n::1 localhost\n");
    EXPECT_EQ(*tree_.read(Path::known("/home/ann/code/My Notes.txt"), 100), "a  b");
    EXPECT_EQ(*tree_.read(Path::known("/bin/sh"), 100), "");
}

TEST_F(MemoryTreeTest, ReadingFailsWhereTheKernelWouldRefuse) {
    EXPECT_FALSE(tree_.read(Path::known("/etc/hosts"), 5));
    EXPECT_FALSE(tree_.read(Path::known("/etc/none"), 100));
    EXPECT_FALSE(tree_.read(Path::known("/etc"), 100));
    EXPECT_FALSE(tree_.read(Path::known("/etc/shadow"), 100)) << "root's, and not for everyone";
}

TEST_F(MemoryTreeTest, TheCallerWritesInOwnAndOpenPlacesOnly) {
    EXPECT_TRUE(tree_.may_write(Path::known("/home/ann/code")));
    EXPECT_TRUE(tree_.may_write(Path::known("/tmp")));
    EXPECT_FALSE(tree_.may_write(Path::known("/usr/bin")));
    EXPECT_FALSE(tree_.may_write(Path::known("/home")));
    EXPECT_FALSE(tree_.may_write(Path::known("/data/shared")));
    EXPECT_FALSE(tree_.may_write(Path::known("/data/shared/below")));
    EXPECT_FALSE(tree_.may_write(Path::known("/home/ann/none")));
}

TEST(MemoryTree, TakesNodesByHand) {
    MemoryTree tree;
    tree.add(Path::known("/a/b"), Node{.kind = Kind::file, .mode = 0600, .owner = 5}, "text");
    EXPECT_EQ(tree.look(Path::known("/a"))->kind, Kind::directory);
    EXPECT_EQ(tree.look(Path::known("/a/b"))->owner, 5u);
    EXPECT_EQ(*tree.read(Path::known("/a/b"), 10), "text");
    EXPECT_TRUE(tree.may_write(Path::known("/a/b")));
    EXPECT_EQ(tree.list(Path::known("/a")).size(), 1u);
    tree.add(Path::known("/a/c"), Node{.kind = Kind::directory});
    EXPECT_EQ(tree.list(Path::known("/a")).size(), 2u);
}

TEST(MemoryTree, RefusesListingsThatCannotBeMeant) {
    struct Case {
        std::string_view listing, what;
    };
    constexpr Case kCases[] = {
        {"x /a", "does not start with one of"},
        {"/a", "does not start with one of"},
        {"d a", "not an absolute path"},
        {"d", "not an absolute path"},
        {"l /a", "leads nowhere"},
        {"d /a some text", "can't have the content"},
        {"f /a\nf /a", "/a is listed twice"},
        {"f /a\nf /a/b", "/a/b lies below /a"},
        {"l /bin usr/bin\nf /bin/sh", "/bin/sh lies below /bin"},
    };
    for (const Case& each : kCases) {
        base::Result<MemoryTree> tree = MemoryTree::parse(each.listing);
        ASSERT_FALSE(tree) << each.listing;
        EXPECT_NE(tree.error().line().find(each.what), std::string::npos) << tree.error().line();
    }
    EXPECT_EQ(MemoryTree::parse("d /a\n\nx /b").error().where, "line 3");
}

}  // namespace
}  // namespace host
