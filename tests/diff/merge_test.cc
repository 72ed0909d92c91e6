// SPDX-License-Identifier: MIT
#include "diff/merge.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

#include "base/file.h"
#include "base/temporary_directory.h"
#include "base/text.h"

namespace {

using testing_support::TemporaryDirectory;

TEST(Merge, TakesTheChangesOfBothSides) {
    EXPECT_EQ(diff::merge("1\n2\n3\n4\n5\n", "one\n2\n3\n4\n5\n", "1\n2\n3\n4\nfive\nsix\n"),
              "one\n2\n3\n4\nfive\nsix\n");
    EXPECT_EQ(diff::merge("1\n2\n3\n4\n", "2\n3\n4\n", "1\n2\n3\n4\n5"), "2\n3\n4\n5");
    EXPECT_EQ(diff::merge("", "", "new\n"), "new\n");
    EXPECT_EQ(diff::merge("a\n", "a\n", ""), "");
}

TEST(Merge, TakesTheSameChangeOnce) {
    EXPECT_EQ(diff::merge("1\n2\n3\n", "1\nx\n3\n", "1\nx\n3\n"), "1\nx\n3\n");
    EXPECT_EQ(diff::merge("1\n", "1\nend\n", "1\nend\n"), "1\nend\n");
}

TEST(Merge, RefusesLinesThatBothChangedAndNeighbours) {
    EXPECT_FALSE(diff::merge("1\n2\n3\n", "1\nx\n3\n", "1\ny\n3\n"));
    EXPECT_FALSE(diff::merge("1\n2\n3\n", "x\n2\n3\n", "1\ny\n3\n"));
    EXPECT_FALSE(diff::merge("1\n2\n", "1\n2\nx\n", "1\n2\ny\n"));
    EXPECT_FALSE(diff::merge("1\n2\n3\n4\n", "1\n4\n", "1\n2\nx\n4\n"));
    EXPECT_FALSE(diff::merge("", "x\n", "y\n"));
}

std::string edited(std::mt19937& random, const std::string& base) {
    std::string text;
    for (std::string_view line : base::split(base, '\n')) {
        if (line.empty()) continue;
        const unsigned choice = random() % 24;
        if (choice == 0) continue;
        if (choice == 1) text += base::format("new {}\n", random() % 3);
        text += choice == 2 ? base::format("other {}\n", random() % 3) : std::string(line) + "\n";
    }
    return text;
}

// Where git finds no conflict and this does, nothing is lost. The other way round must not happen, and the
// texts must be the same.
TEST(Merge, AgreesWithGitOnRandomTexts) {
    TemporaryDirectory directory;
    std::mt19937 random(11);
    int merged = 0;
    for (int round = 0; round < 150; ++round) {
        std::string base;
        for (int i = 0; i < 20; ++i) base += base::format("line {}\n", i);
        const std::string one = edited(random, base), other = edited(random, base);
        const std::optional<std::string> ours = diff::merge(base, one, other);
        if (!ours) continue;
        directory.write("base", base);
        directory.write("one", one);
        directory.write("other", other);
        const std::string command = base::format(
            "cd '{}' && git merge-file -p -q one base other >merged 2>/dev/null", directory.path());
        ASSERT_EQ(std::system(command.c_str()), 0) << base << "---\n" << one << "---\n" << other;
        EXPECT_EQ(*ours, *base::read_file(directory / "merged")) << one << "---\n" << other;
        ++merged;
    }
    EXPECT_GT(merged, 20);
}

}  // namespace
