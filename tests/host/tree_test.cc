// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "host/tree.h"

namespace host {
namespace {

using base::Path;

MemoryTree tree_of(std::string_view listing) {
    base::Result<MemoryTree> tree = MemoryTree::parse(listing);
    EXPECT_TRUE(tree) << tree.error().line();
    return tree ? *std::move(tree) : MemoryTree();
}

TEST(Resolve, LeavesAPhysicalPathAlone) {
    MemoryTree tree = tree_of("f /etc/hosts");
    base::Result<Tree::Resolved> resolved = tree.resolve(Path::known("/etc/hosts"));
    ASSERT_TRUE(resolved);
    EXPECT_TRUE(resolved->exists);
    EXPECT_EQ(resolved->path, Path::known("/etc/hosts"));
    EXPECT_TRUE(resolved->links.empty());
    EXPECT_TRUE(tree.resolve(Path())->exists);
}

TEST(Resolve, FollowsRelativeAndAbsoluteLinksInOrder) {
    MemoryTree tree = tree_of(
        "l /bin usr/bin\n"
        "l /usr/bin/sh /etc/alternatives/sh\n"
        "l /etc/alternatives/sh ../../usr/bin/dash\n"
        "f /usr/bin/dash 0755\n");
    base::Result<Tree::Resolved> resolved = tree.resolve(Path::known("/bin/sh"));
    ASSERT_TRUE(resolved);
    EXPECT_EQ(resolved->path, Path::known("/usr/bin/dash"));
    EXPECT_TRUE(resolved->exists);
    ASSERT_EQ(resolved->links.size(), 3u);
    EXPECT_EQ(resolved->links[0].path, Path::known("/bin"));
    EXPECT_EQ(resolved->links[1].path, Path::known("/usr/bin/sh")) << "where a link stands is physical";
    EXPECT_EQ(resolved->links[2].text, "../../usr/bin/dash");
}

TEST(Resolve, DotsInALinkClimbFromThePhysicalDirectory) {
    MemoryTree tree = tree_of(
        "l /home/ann /data/homes/ann\n"
        "l /data/homes/ann/up ../bob\n"
        "d /data/homes/bob\n"
        "d /home/bob\n");
    EXPECT_EQ(tree.resolve(Path::known("/home/ann/up"))->path, Path::known("/data/homes/bob"));
}

TEST(Resolve, DotsStopAtTheRoot) {
    MemoryTree tree = tree_of("l /far ../../../etc\nd /etc");
    EXPECT_EQ(tree.resolve(Path::known("/far"))->path, Path::known("/etc"));
}

TEST(Resolve, KeepsWhatDoesNotExistAsWritten) {
    MemoryTree tree = tree_of("l /scratch /gpfs/scratch\nd /gpfs/scratch");
    base::Result<Tree::Resolved> resolved = tree.resolve(Path::known("/scratch/ann/new/file"));
    ASSERT_TRUE(resolved);
    EXPECT_FALSE(resolved->exists);
    EXPECT_EQ(resolved->path, Path::known("/gpfs/scratch/ann/new/file"));
}

TEST(Resolve, NothingLiesBelowAFile) {
    MemoryTree tree = tree_of("f /etc/hosts");
    EXPECT_FALSE(tree.resolve(Path::known("/etc/hosts/x"))->exists);
}

TEST(Resolve, ADanglingLinkLeadsToANameThatDoesNotExist) {
    MemoryTree tree = tree_of("l /etc/resolv.conf ../run/systemd/resolve/stub-resolv.conf");
    base::Result<Tree::Resolved> resolved = tree.resolve(Path::known("/etc/resolv.conf"));
    ASSERT_TRUE(resolved);
    EXPECT_FALSE(resolved->exists);
    EXPECT_EQ(resolved->path, Path::known("/run/systemd/resolve/stub-resolv.conf"));
    EXPECT_FALSE(tree.look_through(Path::known("/etc/resolv.conf")));
}

TEST(Resolve, ALoopIsAnErrorThatNamesIt) {
    MemoryTree tree = tree_of("l /a /b\nl /b /a/x");
    base::Result<Tree::Resolved> resolved = tree.resolve(Path::known("/a"));
    ASSERT_FALSE(resolved);
    EXPECT_NE(resolved.error().what.find("cannot resolve /a: its symbolic links form a loop"),
              std::string::npos);
    EXPECT_FALSE(tree.look_through(Path::known("/a")));
}

TEST(Resolve, FollowsAsManyLinksAsTheKernel) {
    auto chain = [](int links) {
        std::string listing = "f /end\n";
        for (int i = 1; i < links; ++i)
            listing += "l /l" + std::to_string(i) + " l" + std::to_string(i + 1) + "\n";
        return listing + "l /l" + std::to_string(links) + " end\n";
    };
    EXPECT_TRUE(tree_of(chain(40)).resolve(Path::known("/l1")));
    EXPECT_FALSE(tree_of(chain(41)).resolve(Path::known("/l1")));
}

TEST(FollowedLink, SeesTheTargetWhereLookSeesTheLink) {
    MemoryTree tree = tree_of("l /bin usr/bin\nd /usr/bin 0711");
    EXPECT_EQ(tree.look(Path::known("/bin"))->kind, Kind::symlink);
    EXPECT_EQ(tree.look_through(Path::known("/bin"))->mode, 0711u);
}

}  // namespace
}  // namespace host
