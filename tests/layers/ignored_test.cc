// SPDX-License-Identifier: MIT
// The rules of a .gitignore, compared with git itself.
#include "layers/ignored.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

#include "base/rounds.h"
#include "base/text.h"
#include "fuzz/over_corpus.h"
#include "layers/ignore_properties.h"
#include "layers/layer_trees.h"
#include "layers/tree.h"

namespace {

namespace fs = std::filesystem;
using layers::IgnoredFiles;
using testing_support::LayerTrees;

IgnoredFiles with_rules(const std::string& text, std::set<std::string> tracked = {}) {
    return {
        [text](const std::string& path) { return path == ".gitignore" ? std::optional(text) : std::nullopt; },
        "", std::move(tracked)};
}

TEST(Ignored, FilesBelowAnIgnoredDirectoryStayIgnored) {
    IgnoredFiles files = with_rules("out/\n!out/kept\n*.o\n!kept.o\n");
    EXPECT_TRUE(files.is_ignored("out", true));
    EXPECT_FALSE(files.is_ignored("out", false));
    EXPECT_TRUE(files.is_ignored("out/kept", false));
    EXPECT_TRUE(files.is_ignored("src/x.o", false));
    EXPECT_FALSE(files.is_ignored("src/kept.o", false));
    EXPECT_FALSE(files.is_ignored("", true));
}

TEST(Ignored, WhatGitTracksIsNeverIgnored) {
    IgnoredFiles files = with_rules("*\n", {"out/tracked"});
    EXPECT_FALSE(files.is_ignored("out/tracked", false));
    EXPECT_FALSE(files.is_ignored("out", true));
    EXPECT_TRUE(files.is_ignored("out/other", false));
}

TEST(Ignored, APatternThatNeverEndsIgnoresNothing) {
    std::string pattern;
    for (int i = 0; i < 30; ++i) pattern += "**/a*";
    size_t budget = 1'000'000;
    EXPECT_FALSE(layers::matches_pattern(pattern + "b", std::string(3000, 'a'), budget));
    EXPECT_LE(budget, 1'000'000u);
}

TEST(Ignored, PropertiesHoldForEverySeedAndEveryDamagedOne) {
    fuzz::expect_unbroken("layers/corpus/ignore", layers::broken_for_ignore_rules);
}

class Generator {
  public:
    explicit Generator(unsigned seed) : random_(seed) {}

    std::string rules() {
        std::string text;
        for (size_t line = any(7); line > 0; --line) {
            if (any(4) == 0) text += '!';
            if (any(4) == 0) text += '/';
            for (size_t part = 1 + any(3); part > 0; --part) text += word() + (part > 1 ? separator() : "");
            if (any(4) == 0) text += '/';
            if (any(12) == 0) text += ' ';
            text += any(15) == 0 ? "\r\n" : "\n";
        }
        return text;
    }
    std::string name() {
        static const char* const kNames[] = {"a", "b", "ab", "a b", "a.o", "b.o", "-", "]", "c1", "*"};
        return kNames[any(std::size(kNames))];
    }
    size_t any(size_t count) { return random_() % count; }

  private:
    std::string separator() {
        static const char* const kSeparators[] = {"/", "/", "", "/**/", "**"};
        return kSeparators[any(std::size(kSeparators))];
    }
    std::string word() {
        static const char* const kWords[] = {"a",    "b",     "*",     "*.o",          "**",  "?",
                                             "a*",   "[ab]",  "[!a]*", "[a-c]?",       "\\*", "[[:alpha:]]*",
                                             "[]-]", "a\\ b", "*b*",   "[^[:digit:]]", "\\",  "[a",
                                             "#x",   "a b"};
        return kWords[any(std::size(kWords))];
    }
    std::mt19937 random_;
};

// The paths among these that git ignores.
std::set<std::string> ignored_by_git(const std::string& project, const std::vector<std::string>& paths) {
    std::string list;
    for (const std::string& path : paths) list += path + '\0';
    std::ofstream(project + ".list", std::ios::binary) << list;
    const std::string command = "cd '" + project +
                                "' && git -c core.excludesFile=/dev/null check-ignore -z --stdin --no-index "
                                "<'" +
                                project + ".list' >'" + project + ".found'; test $? -le 1";
    if (std::system(command.c_str()) != 0) ADD_FAILURE() << command;
    std::set<std::string> found;
    const std::string text = *base::read_file(project + ".found");
    for (std::string_view path : base::split(text, '\0')) found.emplace(path);
    return found;
}

TEST(Ignored, AgreesWithGitOnRandomRules) {
    constexpr unsigned kRounds = test::rounds(300);
    size_t ignored = 0, shown = 0;
    LayerTrees trees;
    const std::string project = trees.project();
    ASSERT_EQ(std::system(("git init -q '" + project + "'").c_str()), 0);
    for (unsigned round = 0; round < kRounds && !HasFailure(); ++round) {
        Generator generator(round);
        for (const auto& entry : fs::directory_iterator(project)) {
            if (entry.path().filename() != ".git") fs::remove_all(entry.path());
        }
        std::vector<std::string> directories{""}, paths;
        for (int i = 0; i < 12; ++i) {
            const std::string parent = directories[generator.any(directories.size())];
            const std::string path = layers::join(parent, generator.name());
            if (fs::exists(project + "/" + path)) continue;
            const bool is_directory = generator.any(2) == 0;
            if (is_directory) {
                fs::create_directory(project + "/" + path);
                directories.push_back(path);
            } else {
                trees.write(trees.project(path), "x");
            }
            paths.push_back(path);
        }
        for (const std::string& directory : directories) {
            if (generator.any(3) == 0 || directory.empty())
                trees.write(trees.project(layers::join(directory, ".gitignore")), generator.rules());
        }
        const std::string excluded = generator.rules();
        fs::create_directories(project + "/.git/info");
        trees.write(trees.project(".git/info/exclude"), excluded);
        IgnoredFiles files(
            [&](const std::string& path) {
                auto text = base::read_file(trees.project(path));
                return text ? std::optional(*text) : std::nullopt;
            },
            excluded, {});
        const std::set<std::string> expected = ignored_by_git(project, paths);
        for (const std::string& path : paths) {
            const bool is_ignored = files.is_ignored(path, fs::is_directory(project + "/" + path));
            EXPECT_EQ(is_ignored, expected.contains(path)) << "round " << round << ": " << path;
            ++(is_ignored ? ignored : shown);
        }
    }
    EXPECT_GT(ignored, kRounds);
    EXPECT_GT(shown, kRounds);
}

}  // namespace
