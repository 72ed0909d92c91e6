// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>

#include "base/few_descriptors.h"
#include "base/file.h"
#include "base/temporary_directory.h"
#include "host/tree.h"

namespace host {
namespace {

using base::Path;

class DiskTreeTest : public testing::Test {
  protected:
    Path at(std::string_view name) const { return Path::known(directory_ / name); }

    testing_support::TemporaryDirectory directory_;
    DiskTree tree_;
};

TEST_F(DiskTreeTest, SeesKindModeAndOwner) {
    ::chmod(directory_.write("file", "content").c_str(), 0640);
    ASSERT_EQ(::symlink("file", at("link").c_str()), 0);
    ASSERT_EQ(::mkfifo(at("fifo").c_str(), 0600), 0);
    std::optional<Node> file = tree_.look(at("file"));
    ASSERT_TRUE(file);
    EXPECT_EQ(file->kind, Kind::file);
    EXPECT_EQ(file->mode, 0640u);
    EXPECT_EQ(file->owner, ::getuid());
    EXPECT_EQ(tree_.look(at("link"))->kind, Kind::symlink);
    EXPECT_EQ(tree_.look(at("link"))->link, "file");
    EXPECT_EQ(tree_.look_through(at("link"))->kind, Kind::file);
    EXPECT_EQ(tree_.look(at("fifo"))->kind, Kind::other);
    EXPECT_EQ(tree_.look(Path::known("/dev/null"))->kind, Kind::device);
    EXPECT_FALSE(tree_.look(at("none")));
}

TEST_F(DiskTreeTest, SeesSockets) {
    base::Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
    std::string path = at("socket").str();
    ASSERT_LT(path.size(), sizeof address.sun_path);
    std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
    ASSERT_EQ(::bind(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(tree_.look(at("socket"))->kind, Kind::socket);
}

TEST_F(DiskTreeTest, ListsSortedWithKinds) {
    directory_.write("b/inside", "");
    directory_.write("a", "");
    ASSERT_EQ(::symlink("b", at("c").c_str()), 0);
    std::vector<Entry> entries = tree_.list(at(""));
    ASSERT_EQ(entries.size(), 3u);
    EXPECT_EQ(entries[0].name, "a");
    EXPECT_EQ(entries[0].kind, Kind::file);
    EXPECT_EQ(entries[1].kind, Kind::directory);
    EXPECT_EQ(entries[2].kind, Kind::symlink);
    EXPECT_TRUE(tree_.list(at("none")).empty());
    EXPECT_TRUE(tree_.list(at("a")).empty());
}

TEST_F(DiskTreeTest, ResolvesLikeTheKernel) {
    directory_.write("real/inside/file", "x");
    ASSERT_EQ(::symlink("real", at("first").c_str()), 0);
    ASSERT_EQ(::symlink(at("first/inside").c_str(), at("second").c_str()), 0);
    ASSERT_EQ(::symlink("loop", at("loop").c_str()), 0);
    base::Result<Tree::Resolved> resolved = tree_.resolve(at("second/file"));
    ASSERT_TRUE(resolved);
    EXPECT_TRUE(resolved->exists);
    EXPECT_EQ(resolved->path, at("real/inside/file"));
    EXPECT_EQ(resolved->links.size(), 2u);
    EXPECT_FALSE(tree_.resolve(at("loop")));
    EXPECT_FALSE(tree_.resolve(at("real/inside/file/below"))->exists);
}

TEST_F(DiskTreeTest, RemembersWhatItSawSoThatADecisionSeesOneState) {
    EXPECT_FALSE(tree_.look(at("late")));
    directory_.write("late", "");
    EXPECT_FALSE(tree_.look(at("late")));
    EXPECT_TRUE(DiskTree().look(at("late")));
}

TEST_F(DiskTreeTest, AListingTellsWhatIsNotThere) {
    directory_.write("Upper", "");
    EXPECT_EQ(tree_.list(at("")).size(), 1u);
    directory_.write("late", "");
    directory_.write("upper", "");
    EXPECT_FALSE(tree_.look(at("late")));
    EXPECT_FALSE(tree_.look(at("late/below")));
    // A file system may ignore case, so the listing does not prove that the name is absent.
    EXPECT_TRUE(tree_.look(at("upper")));
    EXPECT_EQ(tree_.list(at("")).size(), 1u);
}

TEST_F(DiskTreeTest, AListingWithForeignLettersTellsNothing) {
    directory_.write("\xe2\x84\xaa", "");
    EXPECT_EQ(tree_.list(at("")).size(), 1u);
    directory_.write("k", "");
    EXPECT_TRUE(tree_.look(at("k")));
}

// Comparing each requested name with a million others would be slow.
TEST_F(DiskTreeTest, ALargeListingIsNotSearched) {
    for (int number = 0; number < 1001; ++number) directory_.write("file" + std::to_string(number), "");
    EXPECT_EQ(tree_.list(at("")).size(), 1001u);
    directory_.write("late", "");
    EXPECT_TRUE(tree_.look(at("late")));
    EXPECT_FALSE(tree_.look(at("absent")));
    // A name that is in the listing but not on the disk vanished in the meantime.
    ASSERT_EQ(::unlink(at("file7").c_str()), 0);
    EXPECT_FALSE(tree_.look(at("file7")));
    EXPECT_TRUE(tree_.check(at("")));
    directory_.write("file7", "");
    EXPECT_FALSE(tree_.check(at("")));
}

TEST_F(DiskTreeTest, AGlanceSeesKindAndLink) {
    ASSERT_EQ(::symlink("file", at("link").c_str()), 0);
    EXPECT_EQ(tree_.glance(at("link")), (Glance{Kind::symlink, "file"}));
    EXPECT_EQ(tree_.glance(at("none")), std::nullopt);
}

TEST_F(DiskTreeTest, ReadsUpToTheLimit) {
    directory_.write("file", "12345");
    EXPECT_EQ(*tree_.read(at("file"), 5), "12345");
    EXPECT_FALSE(tree_.read(at("file"), 4));
    directory_.write("file", "other");
    EXPECT_EQ(*tree_.read(at("file"), 5), "12345") << "a decision sees one state";
    EXPECT_FALSE(tree_.read(at("none"), 4));
}

TEST_F(DiskTreeTest, WhatIsClosedOrAbsentIsNoProblem) {
    directory_.write("file", "");
    EXPECT_TRUE(tree_.list(at("none")).empty());
    EXPECT_TRUE(tree_.list(at("file")).empty());
    EXPECT_FALSE(tree_.look(at("file/below")));
    EXPECT_FALSE(tree_.read(at(""), 10)) << "a directory";
    EXPECT_TRUE(tree_.check(at("")));
}

TEST_F(DiskTreeTest, WhatCouldNotBeSeenForWantOfDescriptorsIsNotBelieved) {
    directory_.write("secrets/.env", "");
    {
        testing_support::FewDescriptors none(0);
        EXPECT_TRUE(tree_.list(at("secrets")).empty()) << "it looks like an empty one";
    }
    base::Status seen = tree_.check(at("elsewhere"));
    ASSERT_FALSE(seen);
    EXPECT_NE(seen.error().what.find("Too many open files"), std::string::npos) << seen.error().what;

    DiskTree other;
    {
        testing_support::FewDescriptors none(0);
        EXPECT_FALSE(other.read(at("secrets/.env"), 10));
    }
    EXPECT_FALSE(other.check(at("elsewhere")));
}

// The whole directory is moved away for a moment and back.
TEST_F(DiskTreeTest, WhatWasGoneForAMomentIsNotTakenForAbsent) {
    auto move = [&](std::string_view from, std::string_view to) {
        ASSERT_EQ(::rename(at(from).c_str(), at(to).c_str()), 0);
    };
    directory_.write("p/.env", "");
    directory_.write("p/sub/.env", "");
    EXPECT_EQ(tree_.list(at("p")).size(), 2u);
    move("p", "away");
    EXPECT_FALSE(tree_.look(at("p/.env")));
    EXPECT_FALSE(tree_.check(at("p"))) << "the whole project is away";
    move("away", "p");
    EXPECT_FALSE(tree_.check(at("p")));
    EXPECT_TRUE(tree_.check(at("elsewhere")));

    DiskTree other;
    EXPECT_EQ(other.list(at("p")).size(), 2u);
    move("p/sub", "away");
    EXPECT_TRUE(other.list(at("p/sub")).empty());
    EXPECT_TRUE(other.check(at("p"))) << "a directory of it is gone";
    directory_.write("p/sub/x", "");
    EXPECT_FALSE(other.check(at("p")));
    ASSERT_EQ(::unlink(at("p/sub/x").c_str()), 0);
    EXPECT_TRUE(other.check(at("p"))) << "an empty one, as placeholders are";
}

TEST_F(DiskTreeTest, SaysWhetherTheCallerMayWrite) {
    EXPECT_TRUE(tree_.may_write(at("")));
    EXPECT_FALSE(tree_.may_write(at("none")));
    directory_.write("file", "");
    ::chmod(at("file").c_str(), 0444);
    EXPECT_EQ(tree_.may_write(at("file")), ::geteuid() == 0) << "the mode decides, but not for the superuser";
}

}  // namespace
}  // namespace host
