// SPDX-License-Identifier: MIT
#include "layers/changes.h"

#include <gtest/gtest.h>

#include <map>

#include "layers/layer_trees.h"

namespace {

namespace fs = std::filesystem;

using layers::Change;
using layers::EntryKind;
using testing_support::LayerTrees;

std::map<std::string, Change> by_path(const LayerTrees& trees, int64_t start = INT64_MAX) {
    auto changes = trees.changes(start);
    EXPECT_TRUE(changes) << changes.error().line();
    std::map<std::string, Change> all;
    for (Change& change : *changes) all.emplace(change.path, change);
    return all;
}

TEST(Changes, AnEmptyLayerHasNone) {
    LayerTrees trees;
    trees.write(trees.project("a/b"), "x");
    EXPECT_TRUE(by_path(trees).empty());
}

TEST(Changes, OfEachKindAreFound) {
    LayerTrees trees;
    trees.fill();
    auto all = by_path(trees);
    EXPECT_EQ(all.at("src/f1").before.kind, EntryKind::file);
    EXPECT_FALSE(all.at("src/f1").is_mode_alone);
    EXPECT_TRUE(all.at("src/f2").is_mode_alone);
    EXPECT_TRUE(all.at("src/f3").is_deletion());
    EXPECT_TRUE(all.at("src/f4").is_addition());
    EXPECT_TRUE(all.at("src/deep").is_mode_alone);
    EXPECT_TRUE(all.at("gone").is_deletion());
    EXPECT_EQ(all.at("gone").before.kind, EntryKind::directory);
    EXPECT_FALSE(all.contains("gone/x"));
    EXPECT_EQ(all.at("to_file").before.kind, EntryKind::directory);
    EXPECT_EQ(all.at("to_file").after.kind, EntryKind::file);
    EXPECT_EQ(all.at("to_directory").after.kind, EntryKind::directory);
    EXPECT_EQ(all.at("to_directory/in").after.kind, EntryKind::file);
    EXPECT_EQ(all.at("link").after.kind, EntryKind::link);
    EXPECT_FALSE(all.contains(""));
    EXPECT_FALSE(all.contains("src"));
}

TEST(Changes, AnOpaqueDirectoryDeletesWhatItHidesAtEveryDepth) {
    LayerTrees trees;
    trees.write(trees.project("d/a"), "a");
    trees.write(trees.project("d/sub/b"), "b");
    trees.write(trees.project("d/sub/c"), "c");
    trees.opaque("d");
    trees.write(trees.upper("d/sub/c"), "c");
    auto all = by_path(trees);
    EXPECT_TRUE(all.at("d/a").is_deletion());
    EXPECT_TRUE(all.at("d/sub/b").is_deletion());
    EXPECT_FALSE(all.contains("d/sub/c"));  // the same as below
}

TEST(Changes, WhatIsTheSameIsNotAChange) {
    LayerTrees trees;
    trees.write(trees.project("same"), "x");
    trees.write(trees.upper("same"), "x");
    fs::create_symlink("a", trees.project("link"));
    fs::create_symlink("a", trees.upper("link"));
    trees.whiteout("was never there");
    EXPECT_TRUE(by_path(trees).empty());
}

TEST(Changes, OfALayerInUseAreCountedUpToALimit) {
    LayerTrees trees;
    trees.write(trees.upper("a"), "x");
    trees.write(trees.upper("d/e/b"), "x");
    trees.whiteout("gone");
    EXPECT_EQ(layers::count_files(trees.upper(), 100), 3u);
    EXPECT_EQ(layers::count_files(trees.upper(), 2), 2u);
    EXPECT_EQ(layers::count_files(trees.upper("missing"), 2), 0u);
}

TEST(Changes, SetIdBitsDoNotCount) {
    LayerTrees trees;
    trees.write(trees.project("a"), "x", 0755);
    trees.write(trees.upper("a"), "x", 06755);
    EXPECT_TRUE(by_path(trees).empty());
}

TEST(Changes, PipesSocketsReservedNamesAndUnreadableDirectoriesHaveAnObstacle) {
    LayerTrees trees;
    ASSERT_EQ(::mkfifo(trees.upper("pipe").c_str(), 0600), 0);
    trees.write(trees.upper(std::string(layers::kStage) + "/0"), "x");
    fs::create_directory(trees.upper("shut"));
    fs::permissions(trees.upper("shut"), fs::perms(0));
    auto all = by_path(trees);
    EXPECT_NE(all.at("pipe").obstacle, "");
    EXPECT_NE(all.at(layers::kStage).obstacle, "");
    EXPECT_FALSE(all.contains(std::string(layers::kStage) + "/0"));
    EXPECT_NE(all.at("shut").obstacle, "");
    fs::permissions(trees.upper("shut"), fs::perms(0700));
}

TEST(Changes, ADirectoryThatIsNestedTooDeepHasAnObstacle) {
    LayerTrees trees;
    base::Fd at = LayerTrees::open(trees.upper());
    const std::string name(200, 'd');
    for (int i = 0; i < 40; ++i) {
        ASSERT_EQ(::mkdirat(at.get(), name.c_str(), 0755), 0);
        at = base::Fd(::openat(at.get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    }
    auto all = by_path(trees);
    EXPECT_LT(all.size(), 25u);
    EXPECT_NE(all.rbegin()->second.obstacle, "");
}

TEST(Changes, AnAttributeOfTheKernelThatIsNotKnownMakesTheLayerUnreadable) {
    for (const char* name : {"user.overlay.redirect", "user.overlay.metacopy", "user.overlay.whiteout"}) {
        LayerTrees trees;
        trees.write(trees.upper("d/f"), "x");
        ASSERT_EQ(::setxattr(trees.upper("d/f").c_str(), name, "y", 1, 0), 0);
        EXPECT_FALSE(trees.changes()) << name;
    }
    LayerTrees trees;
    trees.write(trees.upper("d/f"), "x");
    ASSERT_EQ(::setxattr(trees.upper("d").c_str(), "user.overlay.opaque", "x", 1, 0), 0);
    EXPECT_FALSE(trees.changes());
}

TEST(Changes, AnEscapedAttributeIsOrdinaryData) {
    LayerTrees trees;
    trees.write(trees.upper("f"), "x");
    ASSERT_EQ(::setxattr(trees.upper("f").c_str(), "user.overlay.overlay.opaque", "y", 1, 0), 0);
    EXPECT_EQ(by_path(trees).size(), 1u);
}

TEST(Changes, ALinkInTheProjectIsNotFollowed) {
    LayerTrees trees;
    fs::create_directory(trees.root() + "/elsewhere");
    trees.write(trees.root() + "/elsewhere/f", "x");
    fs::create_symlink("../elsewhere", trees.project("d"));
    trees.write(trees.upper("d/f"), "y");
    auto all = by_path(trees);
    EXPECT_EQ(all.at("d").before.kind, EntryKind::link);
    EXPECT_TRUE(all.at("d/f").is_addition());
}

// ---- Conflicts

TEST(Conflicts, AreFilesThatTheLayerTouchesAndThatChangedAfterTheStart) {
    LayerTrees trees;
    trees.fill();
    EXPECT_TRUE(by_path(trees).at("src/f1").conflicts.empty());
    auto late = by_path(trees, 0);
    EXPECT_EQ(late.at("src/f1").conflicts, std::vector<std::string>{"src/f1"});
    EXPECT_TRUE(late.at("src/f4").conflicts.empty());  // new
    EXPECT_EQ(late.at("gone").conflicts, (std::vector<std::string>{"gone/x/h1", "gone/x/h2", "gone/x/h3"}));
    EXPECT_EQ(late.at("to_file").conflicts, std::vector<std::string>{"to_file/inner"});
}

TEST(Conflicts, AChangeOutsideWithTheSameContentIsNotOne) {
    LayerTrees trees;
    trees.write(trees.project("a"), "both");
    trees.write(trees.upper("a"), "both");
    EXPECT_TRUE(by_path(trees, 0).empty());
}

TEST(Conflicts, WhatAnEarlierApplyWroteIsNotOne) {
    LayerTrees trees;
    trees.write(trees.project("a"), "one");
    trees.write(trees.upper("a"), "two");
    struct stat status;
    ASSERT_EQ(::stat(trees.project("a").c_str(), &status), 0);
    base::Fd layer = LayerTrees::open(trees.upper()), project = LayerTrees::open(trees.project());
    const int64_t modified = int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec;
    layers::Sides sides{.layer = layer.get(), .project = project.get(), .start = 0};
    sides.written["a"] = {status.st_ino, modified};
    EXPECT_TRUE((*layers::find_changes(sides))[0].conflicts.empty());
    sides.written["a"] = {status.st_ino, modified - 1};
    EXPECT_FALSE((*layers::find_changes(sides))[0].conflicts.empty());
}

}  // namespace
