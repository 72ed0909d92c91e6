// SPDX-License-Identifier: MIT
// Threat: a project puts a symbolic link at the target of a mount, or at its source.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "backends/native/remount_after_clone.h"
#include "base/file.h"
#include "base/temporary_directory.h"

namespace {

using backends::native::open_or_make_without_links;
using backends::native::open_without_links;
namespace files = std::filesystem;

class Open : public testing::Test {
  protected:
    void SetUp() override {
        files::create_directories(directory_ / "root/real/below");
        files::create_directories(directory_ / "secret");
        files::create_directory_symlink(directory_ / "secret", directory_ / "root/link");
        files::create_directory_symlink("real", directory_ / "root/inside");
        root_ = base::Fd(::open((directory_ / "root").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    }
    static void expect_same(int opened, const std::string& path) {
        base::Fd fd(opened);
        ASSERT_GE(opened, 0);
        struct stat got, wanted;
        ASSERT_EQ(::fstat(opened, &got), 0);
        ASSERT_EQ(::stat(path.c_str(), &wanted), 0);
        EXPECT_EQ(got.st_ino, wanted.st_ino);
    }
    testing_support::TemporaryDirectory directory_;
    base::Fd root_;
};

TEST_F(Open, FindsWhatIsThere) {
    expect_same(open_without_links(root_.get(), "real/below"), directory_ / "root/real/below");
    expect_same(open_without_links(AT_FDCWD, (directory_ / "root/real").c_str()), directory_ / "root/real");
    EXPECT_EQ(open_without_links(root_.get(), "none"), -ENOENT);
}

TEST_F(Open, FollowsNoLinkAnywhere) {
    for (const char* path : {"link", "link/x", "inside", "inside/below"})
        EXPECT_EQ(open_without_links(root_.get(), path), -ELOOP) << path;
    EXPECT_EQ(open_without_links(AT_FDCWD, (directory_ / "root/link").c_str()), -ELOOP);
    // The control: by default the kernel follows them.
    expect_same(::openat(root_.get(), "link", O_PATH), directory_ / "secret");
}

TEST_F(Open, LeavesTheRootInNoWay) {
    EXPECT_LT(open_without_links(root_.get(), "../secret"), 0);
    EXPECT_LT(open_without_links(root_.get(), "real/../../secret"), 0);
}

TEST_F(Open, MakesWhatIsMissingAndNothingBehindALink) {
    expect_same(open_or_make_without_links(root_.get(), "real/new/deeper", true, 0700),
                directory_ / "root/real/new/deeper");
    expect_same(open_or_make_without_links(root_.get(), "real/new/file", false, 0700),
                directory_ / "root/real/new/file");
    EXPECT_TRUE(files::is_regular_file(directory_ / "root/real/new/file"));
    EXPECT_EQ(open_or_make_without_links(root_.get(), "link/new", true, 0700), -ELOOP);
    EXPECT_TRUE(files::is_empty(directory_ / "secret"));
}

}  // namespace
