// SPDX-License-Identifier: MIT
#include "base/no_links.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "base/file.h"

namespace {

class RemoveTree : public testing::Test {
  protected:
    void SetUp() override {
        ASSERT_NE(::mkdtemp(root_), nullptr);
        top_ = std::string(root_) + "/top";
        ASSERT_EQ(::mkdir(top_.c_str(), 0700), 0);
    }
    void TearDown() override {
        EXPECT_EQ(::rmdir(root_), 0) << "only what was named is removed, and all of it";
    }

    char root_[32] = "/tmp/remove-tree-test.XXXXXX";
    std::string top_;
};

TEST_F(RemoveTree, FilesDirectoriesAndLinksThatLeadOut) {
    std::string outside = std::string(root_) + "/outside";
    ASSERT_TRUE(base::write_file_atomically(outside, "kept"));
    ASSERT_EQ(::mkdir((top_ + "/.removed.1").c_str(), 0700), 0) << "a name that the remover takes itself";
    ASSERT_TRUE(base::write_file_atomically(top_ + "/.removed.1/file", "x"));
    ASSERT_EQ(::symlink(root_, (top_ + "/.removed.1/link").c_str()), 0);
    ASSERT_EQ(::mkdir((top_ + "/.removed.1/sub").c_str(), 0700), 0);
    base::remove_tree(top_);
    EXPECT_FALSE(base::file_exists(top_));
    EXPECT_TRUE(base::file_exists(outside));
    ::unlink(outside.c_str());
}

TEST_F(RemoveTree, DirectoriesWithoutRights) {
    ASSERT_EQ(::mkdir((top_ + "/a").c_str(), 0700), 0);
    ASSERT_EQ(::mkdir((top_ + "/a/b").c_str(), 0700), 0);
    ASSERT_TRUE(base::write_file_atomically(top_ + "/a/b/file", "x"));
    ASSERT_EQ(::chmod((top_ + "/a/b").c_str(), 0), 0);
    ASSERT_EQ(::chmod((top_ + "/a").c_str(), 0), 0);
    base::remove_tree(top_);
    EXPECT_FALSE(base::file_exists(top_));
}

TEST_F(RemoveTree, DeeperThanAPathCanBeLong) {
    base::Fd directory(::open(top_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    for (int depth = 0; depth < 5000; ++depth) {
        ASSERT_EQ(::mkdirat(directory.get(), "deep", 0700), 0);
        directory = base::Fd(::openat(directory.get(), "deep", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        ASSERT_TRUE(directory);
    }
    directory.reset();
    base::remove_tree(top_);
    EXPECT_FALSE(base::file_exists(top_));
}

// Threat: the owner of a directory exchanges it for a link while it is removed. What the link leads to keeps
// its mode.
TEST_F(RemoveTree, ALinkThatComesInBetweenIsNotFollowed) {
    std::string outside = std::string(root_) + "/outside", link = std::string(root_) + "/link";
    ASSERT_EQ(::mkdir(outside.c_str(), 0500), 0);
    ASSERT_EQ(::symlink(outside.c_str(), link.c_str()), 0);
    std::string inside = top_ + "/a";
    std::atomic<bool> has_ended = false;
    std::thread exchanging([&] {
        while (!has_ended)
            ::syscall(SYS_renameat2, AT_FDCWD, inside.c_str(), AT_FDCWD, link.c_str(), RENAME_EXCHANGE);
    });
    mode_t mode = 0500;
    for (int round = 0; round < 500 && mode == 0500; ++round) {
        ::mkdir(top_.c_str(), 0700);
        ::mkdir(inside.c_str(), 0);
        base::remove_tree(top_);
        struct stat status;
        ASSERT_EQ(::stat(outside.c_str(), &status), 0);
        mode = status.st_mode & 0777;
        // The exchange may have moved the directory to the name of the link.
        if (::lstat(link.c_str(), &status) != 0 || !S_ISLNK(status.st_mode)) {
            ::rmdir(link.c_str());
            ::symlink(outside.c_str(), link.c_str());
        }
    }
    has_ended = true;
    exchanging.join();
    EXPECT_EQ(mode, 0500u);
    base::remove_tree(top_);
    base::remove_tree(outside);
    ::unlink(link.c_str());
    ::rmdir(link.c_str());
}

TEST_F(RemoveTree, ALinkIsNotATree) {
    std::string link = std::string(root_) + "/link";
    ASSERT_EQ(::symlink(top_.c_str(), link.c_str()), 0);
    base::remove_tree(link);
    EXPECT_TRUE(base::file_exists(top_));
    ::unlink(link.c_str());
    base::remove_tree(top_);
}

}  // namespace
