// SPDX-License-Identifier: MIT
#include "layers/held.h"

#include <gtest/gtest.h>

#include <map>

#include "layers/layer_trees.h"

namespace {

namespace fs = std::filesystem;
using layers::Change;
using testing_support::LayerTrees;

layers::HeldRules rules() {
    return {
        .names = {{".vscode", "tasks"}, {".claude/settings.json", "hooks"}, {".mise.tom*", "mise"}},
        .git_names = {{"hooks", "run by git"}, {"config", "names programs"}, {"info/attributes", "filters"}},
        .program_directories = {"bin", "own/tools"},
        .program_links = {"way"}};
}

std::map<std::string, std::string> held(const LayerTrees& trees) {
    base::Fd layer = LayerTrees::open(trees.upper()), project = LayerTrees::open(trees.project());
    layers::Sides sides{.layer = layer.get(), .project = project.get(), .start = INT64_MAX};
    auto changes = layers::find_changes(sides);
    EXPECT_TRUE(changes);
    layers::hold_back(rules(), sides, *changes);
    std::map<std::string, std::string> all;
    for (const Change& change : *changes) all[change.path] = change.held;
    return all;
}

TEST(Held, AreProtectedNamesAndWhatIsBelowThem) {
    LayerTrees trees;
    for (const char* name :
         {".vscode/tasks.json", ".claude/settings.json", ".claude/notes", ".mise.toml", "src/f"})
        trees.write(trees.upper(name), "x");
    auto all = held(trees);
    EXPECT_NE(all.at(".vscode"), "");
    EXPECT_NE(all.at(".vscode/tasks.json"), "");
    EXPECT_NE(all.at(".claude/settings.json"), "");
    EXPECT_NE(all.at(".mise.toml"), "");
    EXPECT_EQ(all.at(".claude"), "");
    EXPECT_EQ(all.at(".claude/notes"), "");
    EXPECT_EQ(all.at("src/f"), "");
}

TEST(Held, IsTheRemovalOrReplacementOfADirectoryAboveAProtectedName) {
    LayerTrees trees;
    trees.write(trees.project(".claude/settings.json"), "x");
    trees.whiteout(".claude");
    EXPECT_NE(held(trees).at(".claude"), "");
    LayerTrees others;
    fs::create_directory(others.upper("own"));
    fs::create_symlink("own", others.upper(".claude"));
    EXPECT_NE(held(others).at(".claude"), "");
}

TEST(Held, AreNamesOfEveryRepository) {
    LayerTrees trees;
    for (const char* name : {".git/config", ".git/hooks/pre-commit", ".git/objects/ab/cd",
                             ".git/refs/heads/config", ".git/modules/lib/config", ".git/modules/lib/HEAD",
                             "deep/er/.git/hooks/x", "deep/er/.git/HEAD", ".git/info/attributes"})
        trees.write(trees.upper(name), "x");
    trees.write(trees.upper("planted/.git"), "gitdir: ../evil");
    auto all = held(trees);
    for (const char* name : {".git/config", ".git/hooks/pre-commit", ".git/modules/lib/config",
                             "deep/er/.git/hooks/x", "planted/.git", ".git/info/attributes"})
        EXPECT_NE(all.at(name), "") << name;
    for (const char* name : {".git", ".git/objects/ab/cd", ".git/refs/heads/config", ".git/modules/lib/HEAD",
                             "deep/er/.git", "deep/er/.git/HEAD", "planted"})
        EXPECT_EQ(all.at(name), "") << name;
}

TEST(Held, AreLinksThatLeaveTheProject) {
    LayerTrees trees;
    fs::create_directories(trees.project("a/b"));
    fs::create_symlink("/etc", trees.project("out"));
    fs::create_directories(trees.upper("a"));
    const std::map<std::string, std::pair<std::string, bool>> links{
        {"absolute", {"/etc/passwd", true}}, {"up", {"../x", true}},       {"a/up", {"../a/b", false}},
        {"a/far", {"../../x", true}},        {"near", {"a/b", false}},     {"through", {"out/passwd", true}},
        {"turn", {"a/b/../../../x", true}},  {"same", {"./a/./b", false}},
    };
    for (const auto& [name, link] : links) fs::create_symlink(link.first, trees.upper(name));
    auto all = held(trees);
    for (const auto& [name, link] : links) EXPECT_EQ(all.at(name) != "", link.second) << name;
}

TEST(Held, AreLinksThatLeadGitOutOfItsRepository) {
    LayerTrees trees;
    fs::create_directories(trees.upper(".git"));
    fs::create_directories(trees.upper("sub/.git/logs"));
    fs::create_symlink("../target", trees.upper(".git/FETCH_HEAD"));
    fs::create_symlink("../../target", trees.upper("sub/.git/logs/HEAD"));
    fs::create_symlink("refs/heads/main", trees.upper(".git/HEAD"));
    auto all = held(trees);
    EXPECT_NE(all.at(".git/FETCH_HEAD"), "");
    EXPECT_NE(all.at("sub/.git/logs/HEAD"), "");
    EXPECT_EQ(all.at(".git/HEAD"), "");
}

TEST(Held, AreNewProgramsInADirectoryOfThePath) {
    LayerTrees trees;
    trees.write(trees.upper("bin/ls"), "x", 0755);
    trees.write(trees.upper("bin/readme"), "x");
    trees.write(trees.upper("tools/ls"), "x", 0755);
    auto all = held(trees);
    EXPECT_NE(all.at("bin/ls"), "");
    EXPECT_EQ(all.at("bin/readme"), "");
    EXPECT_EQ(all.at("tools/ls"), "");
}

TEST(Held, AreLinksInADirectoryOfThePathAndInPlaceOfOne) {
    LayerTrees trees;
    trees.write(trees.upper("evil"), "x", 0755);
    trees.write(trees.upper("other/tools/ls"), "x", 0755);
    fs::create_directories(trees.upper("bin"));
    fs::create_symlink("../evil", trees.upper("bin/ls"));
    fs::create_symlink("other", trees.upper("own"));
    fs::create_symlink("other", trees.upper("way"));
    fs::create_symlink("evil", trees.upper("beside"));
    auto all = held(trees);
    for (const char* name : {"bin/ls", "own", "way"}) EXPECT_NE(all.at(name), "") << name;
    for (const char* name : {"evil", "beside", "other/tools/ls", "bin"}) EXPECT_EQ(all.at(name), "") << name;
}

}  // namespace
