// SPDX-License-Identifier: MIT
#include "base/no_links.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "base/temporary_directory.h"

namespace {

using base::Path;
using testing_support::TemporaryDirectory;

int try_open(const std::string& path, int flags) {
    base::Fd fd(base::open_without_links(Path::known(path), flags));
    return fd ? 0 : -fd.get();
}

TEST(NoLinks, OpensWhatIsThere) {
    TemporaryDirectory directory;
    EXPECT_EQ(try_open(directory.write("a/b", "x"), O_RDONLY), 0);
    EXPECT_EQ(try_open(directory / "a/c", O_RDONLY), ENOENT);
    EXPECT_EQ(try_open("/", O_PATH | O_DIRECTORY), 0);
}

TEST(NoLinks, RefusesALinkAtTheEndAndOnTheWay) {
    TemporaryDirectory directory;
    directory.write("a/b", "x");
    std::filesystem::create_symlink("a", directory / "way");
    std::filesystem::create_symlink("a/b", directory / "end");
    EXPECT_EQ(try_open(directory / "way/b", O_PATH), ELOOP);
    EXPECT_EQ(try_open(directory / "end", O_PATH), ELOOP);
    EXPECT_EQ(try_open(directory / "end", O_RDONLY), ELOOP);
}

TEST(NoLinks, MakesMissingParentsWithTheirMode) {
    TemporaryDirectory directory;
    ASSERT_TRUE(base::make_directories_without_links(Path::known(directory / "a/b/c"), 0700));
    ASSERT_TRUE(base::make_directories_without_links(Path::known(directory / "a/b/c"), 0700));
    EXPECT_EQ(std::filesystem::status(directory / "a/b").permissions(), std::filesystem::perms::owner_all);
}

TEST(NoLinks, MakesNothingThroughALinkOrUnderAFile) {
    TemporaryDirectory directory;
    std::filesystem::create_directory(directory / "elsewhere");
    std::filesystem::create_symlink("elsewhere", directory / "link");
    directory.write("file", "x");
    EXPECT_FALSE(base::make_directories_without_links(Path::known(directory / "link/new"), 0700));
    EXPECT_FALSE(std::filesystem::exists(directory / "elsewhere/new"));
    EXPECT_FALSE(base::make_directories_without_links(Path::known(directory / "file"), 0700));
    EXPECT_FALSE(base::make_directories_without_links(Path::known(directory / "file/new"), 0700));
}

TEST(UnreadableDirectory, IsTheFirstOneWhoseModeKeepsTheOwnerOut) {
    TemporaryDirectory directory;
    const Path place = *Path::parse(directory.path());
    ASSERT_TRUE(base::make_directories((place / "open/shut/below").str()));
    EXPECT_EQ(base::shut_directory(place / "open/shut/below"), std::nullopt);
    ASSERT_EQ(::chmod((place / "open/shut").c_str(), 0600), 0);
    EXPECT_EQ(base::shut_directory(place / "open/shut/below"), place / "open/shut");
    EXPECT_EQ(base::shut_directory(place / "open/missing/below"), std::nullopt);
    base::Error error =
        base::with_shut_directory({.what = "it failed", .advice = "try again"}, place / "open/shut");
    EXPECT_TRUE(error.advice.ends_with("run: chmod u+rwx " + (place / "open/shut").str())) << error.advice;
    EXPECT_EQ(base::with_shut_directory({.what = "it failed", .advice = "try again"}, place).advice,
              "try again");
    ASSERT_EQ(::chmod((place / "open/shut").c_str(), 0700), 0);
}

}  // namespace
