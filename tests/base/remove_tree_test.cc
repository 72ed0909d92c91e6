// SPDX-License-Identifier: MIT
#include "base/no_links.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

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

TEST_F(RemoveTree, ALinkIsNotATree) {
    std::string link = std::string(root_) + "/link";
    ASSERT_EQ(::symlink(top_.c_str(), link.c_str()), 0);
    base::remove_tree(link);
    EXPECT_TRUE(base::file_exists(top_));
    ::unlink(link.c_str());
    base::remove_tree(top_);
}

}  // namespace
