// SPDX-License-Identifier: MIT
#include "layers/git_index.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "base/file.h"
#include "base/temporary_directory.h"

namespace {

using testing_support::TemporaryDirectory;

class GitIndex : public testing::Test {
  protected:
    void git(const std::string& command) const {
        const std::string line =
            "cd '" + directory_.path() + "' && export GIT_CONFIG_GLOBAL=/dev/null && " + command;
        ASSERT_EQ(std::system(line.c_str()), 0) << line;
    }
    std::string index() const { return *base::read_file(directory_ / ".git/index"); }

    TemporaryDirectory directory_;
};

TEST_F(GitIndex, IsTheSameAfterGitHasOnlyWrittenTimesAgain) {
    directory_.write("a file", "x");
    directory_.write("b/c", "y");
    git("git init -q . && git add . && git update-index --refresh");
    const std::string before = index();
    git("touch -d 2001-01-01 'a file' b/c && git update-index --refresh");
    EXPECT_NE(index(), before);
    EXPECT_TRUE(layers::have_same_entries(index(), before));
}

TEST_F(GitIndex, HasTheObjectOfEachFile) {
    directory_.write("a", "x");
    directory_.write("dir/a", "hello\n");
    git("git init -q . && git add .");
    EXPECT_EQ(layers::object_of(index(), "dir/a"), "ce013625030ba8dba906f756967f9e9ca394464a");
    EXPECT_FALSE(layers::object_of(index(), "dir"));
    EXPECT_FALSE(layers::object_of("", "a"));
}

TEST_F(GitIndex, DiffersAfterAFileWasStaged) {
    directory_.write("a", "x");
    git("git init -q . && git add .");
    const std::string before = index();
    directory_.write("a", "z");
    git("git add .");
    EXPECT_FALSE(layers::have_same_entries(index(), before));
    git("git rm -q --cached a");
    EXPECT_FALSE(layers::have_same_entries(index(), before));
    EXPECT_TRUE(layers::staged_entries(index()));
}

// Both indexes have no entry of their own then, and the files that they name list different ones.
TEST_F(GitIndex, ThatIsSplitIsNotTheSameAsAnother) {
    directory_.write("a", "x");
    // git keeps the entry of a file in the index itself if the file is as new as the index.
    git("touch -d 2001-01-01 a && git init -q . && git add . && git update-index --split-index");
    const std::string before = index();
    directory_.write("a", "z");
    git("touch -d 2001-01-02 a && git add . && git update-index --no-split-index && "
        "git update-index --split-index");
    EXPECT_NE(index(), before);
    EXPECT_FALSE(layers::have_same_entries(index(), before));
}

TEST_F(GitIndex, ThatCannotBeReadIsNotTheSame) {
    EXPECT_FALSE(layers::staged_entries(""));
    EXPECT_FALSE(layers::staged_entries(std::string("DIRC\0\0\0\2\0\0\0\5", 12)));
    directory_.write("a", "x");
    git("git init -q . && git add . && git update-index --index-version 4");
    EXPECT_FALSE(layers::staged_entries(index()));
    EXPECT_TRUE(layers::have_same_entries(index(), index()));
    git("git update-index --index-version 2");
    const std::string whole = index();
    for (size_t length = 0; length < whole.size(); ++length)
        (void)layers::staged_entries(std::string_view(whole).substr(0, length));
}

}  // namespace
