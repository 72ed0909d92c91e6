// SPDX-License-Identifier: MIT
#include "review/review.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "base/temporary_directory.h"
#include "review/session_start.h"

namespace {

using base::Path;
using testing_support::TemporaryDirectory;

class ReviewTest : public testing::Test {
  protected:
    void start_session() { session_.started = testing_support::start_of_session(); }

    void write(std::string_view name, std::string_view content = "x", mode_t mode = 0644) {
        ASSERT_EQ(::chmod(project_.write(name, content).c_str(), mode), 0);
    }

    void make_repository(const std::string& name, std::string_view config = "[core]\n\tbare = false\n") {
        for (std::string_view part : {"/objects", "/refs", "/hooks"})
            std::filesystem::create_directories(project_ / (name + std::string(part)));
        write(name + "/HEAD", "ref: refs/heads/main\n");
        write(name + "/config", config);
    }

    // "path: why|…"
    std::string found(const review::Limits& limits = {}) {
        std::string all;
        review_ = review::look_back(session_, limits);
        for (const review::Finding& finding : review_.findings) {
            all += std::string(finding.path.relative_to(session_.project)) + ": " + finding.why + "|";
        }
        return all;
    }

    TemporaryDirectory project_;
    review::Session session_{Path::known(project_.path()), {}, {}};
    review::Review review_;
};

TEST_F(ReviewTest, SaysNothingWhereNothingRuns) {
    start_session();
    write("src/main.c");
    write("README.md");
    write("run-me", "#!/bin/sh\n", 0755);
    EXPECT_EQ(found(), "");
    EXPECT_TRUE(review::describe(review_, session_.project).empty());
}

TEST_F(ReviewTest, TellsWhatIsNewOrChangedAndNothingElse) {
    write("Makefile");
    write("old/Makefile");
    start_session();
    EXPECT_EQ(found(), "");
    write("Makefile", "changed");
    write("sub/setup.py");
    write(".github/workflows/ci.yml");
    EXPECT_EQ(found(),
              ".github/workflows/ci.yml: run by GitHub when it is pushed|Makefile: run by make|sub/setup.py: "
              "run by pip|");
}

TEST_F(ReviewTest, AFileThatPretendsToBeOldIsToldAllTheSame) {
    start_session();
    write("Makefile");
    struct timespec times[2] = {{.tv_sec = 1, .tv_nsec = 0}, {.tv_sec = 1, .tv_nsec = 0}};
    ASSERT_EQ(::utimensat(AT_FDCWD, (project_ / "Makefile").c_str(), times, 0), 0);
    EXPECT_EQ(found(), "Makefile: run by make|");
}

TEST_F(ReviewTest, AFileThatWasMovedIntoPlaceIsToldAllTheSame) {
    write("notes");
    start_session();
    std::filesystem::rename(project_ / "notes", project_ / "Makefile");
    EXPECT_EQ(found(), "Makefile: run by make|");
}

TEST_F(ReviewTest, APackageIsToldOnlyWhereItRunsSomethingUnasked) {
    start_session();
    write("package.json", R"({"scripts": {"test": "jest"}})");
    EXPECT_EQ(found(), "");
    write("package.json", R"({"scripts": {"postinstall": "node evil.js"}})");
    EXPECT_EQ(found(), "package.json: has a script that npm runs at installation|");
}

TEST_F(ReviewTest, ProgramsOnThePathAreOneFindingForEachDirectory) {
    write("bin/old", "x", 0755);
    session_.search_path = {session_.project / "bin", session_.project / ".venv/bin",
                            Path::known("/usr/bin")};
    start_session();
    write("bin/data");
    EXPECT_EQ(found(), "");
    write("bin/git", "x", 0755);
    for (std::string name : {"a", "b", "c"}) write(".venv/bin/" + name, "x", 0755);
    EXPECT_EQ(found(),
              ".venv/bin/a: a program in a directory on your PATH with 2 more beside it|"
              "bin/git: a program in a directory on your PATH|");
}

TEST_F(ReviewTest, HooksOfANewRepositoryAreTold) {
    start_session();
    make_repository("clone/.git");
    write("clone/.git/hooks/pre-commit.sample", "x", 0755);
    write("clone/.git/hooks/notes", "x", 0644);
    EXPECT_EQ(found(), "");
    write("clone/.git/hooks/post-checkout", "x", 0755);
    EXPECT_EQ(found(), "clone/.git/hooks/post-checkout: a hook that git runs|");
}

TEST_F(ReviewTest, ConfigurationsThatRunProgramsAreTold) {
    for (std::string_view config :
         {"[core]\nfsmonitor = ./x\n", "[core]\nhooksPath = ../h\n", "[filter \"a\"]\nclean = ./x\n",
          "[include]\npath = ../x\n", "[alias]\nst = !./x\n", "[diff \"a\"]\ntextconv = ./x\n"}) {
        start_session();
        make_repository("clone/.git", config);
        EXPECT_NE(found().find("clone/.git/config: "), std::string::npos) << config;
    }
    start_session();
    make_repository("clone/.git",
                    "[core]\nfsmonitor = false\n[alias]\nst = status\n[remote \"origin\"]\nurl = x\n");
    EXPECT_EQ(found(), "");
}

TEST_F(ReviewTest, ARepositoryIsKnownByItsContentNotItsName) {
    start_session();
    make_repository("docs/images", "[core]\nbare = true\nfsmonitor = ./x\n");
    EXPECT_EQ(found(), "docs/images/config: core.fsmonitor: a program that git runs at every status|");
}

TEST_F(ReviewTest, SubmodulesAndWorktreesOfARepositoryAreLookedInto) {
    make_repository(".git");
    start_session();
    make_repository(".git/modules/deep/lib", "[core]\nworktree = ../../../../lib\n");
    write(".git/worktrees/topic/commondir", "../..\n");
    EXPECT_EQ(found(), "");
    write(".git/modules/deep/lib/hooks/pre-push", "x", 0755);
    write(".git/worktrees/topic/commondir", "../../../evil\n");
    EXPECT_EQ(found(),
              ".git/modules/deep/lib/hooks/pre-push: a hook that git runs|"
              ".git/worktrees/topic/commondir: leads git to other hooks and another configuration|");
}

TEST_F(ReviewTest, ALinkOfGitsIsFollowedWhereTheWalkDoesNotGo) {
    start_session();
    make_repository("node_modules/evil", "[core]\nfsmonitor = ./x\n");
    EXPECT_EQ(found(), "");
    write("lib/.git", "gitdir: ../node_modules/evil\n");
    EXPECT_EQ(found(), "node_modules/evil/config: core.fsmonitor: a program that git runs at every status|");
    write("lib/.git", "gitdir: /tmp/elsewhere\n");
    EXPECT_EQ(found(), "lib/.git: leads git to /tmp/elsewhere|");
}

constexpr const char* kSettings = "[core]\nfsmonitor = ./x\n";
constexpr const char* kSettingsOf = "/config: core.fsmonitor: a program that git runs at every status|";

// Threat: git asks whether it may execute objects and refs, in the directory that "commondir" names.
TEST_F(ReviewTest, EveryDirectoryOfGitsAndWhereItLeadsIsLookedInto) {
    start_session();
    write("a/.git/HEAD");
    write("a/.git/commondir", "../x\n");
    write("a/x/config", kSettings);
    write("b/.git/HEAD");
    write("b/.git/config", kSettings);
    write("b/.git/objects", "", 0755);
    write("b/.git/refs", "", 0755);
    write("c/y/HEAD");
    write("c/y/commondir", "../../a/x");
    write("c/.git", "gitdir: y\n");
    EXPECT_EQ(found(),
              std::string("a/.git/commondir: leads git to other hooks and another configuration|a/x") +
                  kSettingsOf + "b/.git" + kSettingsOf +
                  "c/y/commondir: leads git to other hooks and another configuration|");
}

TEST_F(ReviewTest, WhatLiesBehindAnOldLinkOfGitsIsLookedIntoAgain) {
    for (const char* name : {"a", "b"}) make_repository(std::string("node_modules/") + name);
    write("a/.git", "gitdir: ../node_modules/a\n");
    std::filesystem::create_directories(project_ / "b");
    std::filesystem::create_directory_symlink("../node_modules/b", project_ / "b/.git");
    std::filesystem::create_directory_symlink("node_modules", project_ / "way");
    write("c/.git", "gitdir: ../way/c\n");
    make_repository("node_modules/c");
    start_session();
    EXPECT_EQ(found(), "");
    for (const char* name : {"a", "b", "c"})
        write("node_modules/" + std::string(name) + "/config", kSettings);
    EXPECT_EQ(found(), std::string("node_modules/a") + kSettingsOf + "node_modules/b" + kSettingsOf +
                           "node_modules/c" + kSettingsOf);
    std::filesystem::remove(project_ / "way");
    std::filesystem::create_directory_symlink("/usr", project_ / "way");
    EXPECT_EQ(found().find("c/.git: leads git to /usr"), std::string::npos) << "there is no /usr/c";
}

// As git reads it: no blank is taken off, and nothing counts from a NUL byte.
TEST_F(ReviewTest, ThePathOfALinkIsReadAsGitReadsIt) {
    start_session();
    make_repository("a/ b", kSettings);
    write("a/.git", "gitdir:  b\r\n");
    make_repository("c/d", kSettings);
    write("c/.git", std::string_view("gitdir: d\0/../e\n", 17));
    EXPECT_EQ(found(), std::string("a/ b") + kSettingsOf + "c/d" + kSettingsOf);
}

TEST_F(ReviewTest, AnUnfinishedRebaseThatRunsCommandsIsTold) {
    make_repository(".git");
    start_session();
    write(".git/rebase-merge/git-rebase-todo", "pick 1234 x\n");
    EXPECT_EQ(found(), "");
    write(".git/rebase-merge/git-rebase-todo", "pick 1234 x\nexec ./evil\n");
    EXPECT_EQ(found(), ".git/rebase-merge/git-rebase-todo: run by 'git rebase --continue'|");
    for (const char* line : {"x\t./evil -y", "\tx ./evil", "exec\r", "; x", "newer ./evil"}) {
        write(".git/rebase-merge/git-rebase-todo", std::string("pick 1234 x\n# x\n\n") + line + "\n");
        EXPECT_EQ(found(), ".git/rebase-merge/git-rebase-todo: run by 'git rebase --continue'|") << line;
    }
}

TEST_F(ReviewTest, FollowsNoLinkOutOfTheProject) {
    TemporaryDirectory outside;
    start_session();
    outside.write("Makefile", "x");
    std::filesystem::create_directory_symlink(outside.path(), project_ / "link");
    EXPECT_EQ(found(), "");
}

TEST_F(ReviewTest, APipeDoesNotHoldItUp) {
    make_repository(".git");
    start_session();
    std::filesystem::remove(project_ / ".git/config");
    ASSERT_EQ(::mkfifo((project_ / ".git/config").c_str(), 0600), 0);
    ASSERT_EQ(::mkfifo((project_ / "package.json").c_str(), 0600), 0);
    EXPECT_EQ(found(),
              ".git/config: a configuration that can't be read|package.json: a package that can't be read|");
}

TEST_F(ReviewTest, LimitsAreKeptAndWhatTheyCutOffIsNamed) {
    start_session();
    write("a/b/c/Makefile");
    write("Makefile");
    EXPECT_EQ(found({.depth = 2}), "Makefile: run by make|");
    ASSERT_EQ(review_.unseen.size(), 1u);
    EXPECT_EQ(review_.unseen[0], session_.project / "a/b");
    found({.entries = 1});
    EXPECT_FALSE(review_.unseen.empty());
    found({.time = std::chrono::milliseconds(-1)});
    EXPECT_FALSE(review_.unseen.empty());
}

TEST_F(ReviewTest, NoLimitMakesItSilent) {
    start_session();
    write("a/b/notes");
    EXPECT_EQ(found({.depth = 2}), "");
    EXPECT_EQ(review::describe(review_, session_.project),
              std::vector<std::string>{"the review did not look at all of the project: not into a/b"});
    for (char letter = 'a'; letter <= 'f'; ++letter) write("x/" + std::string(1, letter) + "/y/notes");
    found({.depth = 2});
    EXPECT_EQ(review::describe(review_, session_.project)[0],
              "the review did not look at all of the project: not into a/b, x/a, x/b and 4 more directories");
}

TEST_F(ReviewTest, ManyEntriesInOneDirectoryHideNothingBesideThem) {
    start_session();
    for (int i = 0; i < 12'000; ++i) write("!" + std::to_string(i), "");
    write("Makefile");
    EXPECT_EQ(found(), "Makefile: run by make|");
}

TEST_F(ReviewTest, ADirectoryThatCantBeReadIsNamed) {
    start_session();
    write("open/notes");
    write("closed/Makefile");
    ASSERT_EQ(::chmod((project_ / "closed").c_str(), 0100), 0);
    bool is_root = ::access((project_ / "closed").c_str(), R_OK) == 0;
    found();
    EXPECT_EQ(review_.unseen.size(), is_root ? 0u : 1u);
    ASSERT_EQ(::chmod((project_ / "closed").c_str(), 0700), 0);
}

TEST_F(ReviewTest, WhatStartsByItselfIsToldAtEveryDepth) {
    start_session();
    write("app/.vscode/tasks.json");
    write("app/.claude/skills/x/SKILL.md");
    write("shell.nix");
    EXPECT_EQ(found(),
              "app/.claude/skills/x/SKILL.md: a skill that agents run|"
              "app/.vscode/tasks.json: tasks and settings that an editor runs|"
              "shell.nix: run by nix-shell and by direnv|");
}

TEST_F(ReviewTest, ALinkInThePlaceOfAListedDirectoryIsTold) {
    start_session();
    write("notes/pre-commit");
    std::filesystem::create_directory_symlink("notes", project_ / ".husky");
    std::filesystem::create_directory_symlink("notes", project_ / "other");
    EXPECT_EQ(found(), ".husky: a symbolic link to what would be hooks that git is pointed at|");
}

TEST_F(ReviewTest, ALinkInThePlaceOfARepositoryIsTold) {
    start_session();
    std::filesystem::create_directory_symlink("/tmp/elsewhere", project_ / ".git");
    EXPECT_EQ(found(), ".git: a symbolic link that leads git elsewhere|");
}

TEST_F(ReviewTest, ARepositoryWithLinksInItIsARepository) {
    start_session();
    make_repository("store");
    write("docs/HEAD", "ref: refs/heads/main\n");
    write("docs/config", "[core]\nfsmonitor = ./x\n");
    for (const char* part : {"objects", "refs"})
        std::filesystem::create_directory_symlink(std::string("../store/") + part,
                                                  project_ / ("docs/" + std::string(part)));
    EXPECT_EQ(found(), "docs/config: core.fsmonitor: a program that git runs at every status|");
}

TEST_F(ReviewTest, ShortTextWithAnEnd) {
    start_session();
    for (char letter = 'a'; letter <= 'n'; ++letter) write(std::string(1, letter) + "/Makefile");
    found();
    auto lines = review::describe(review_, session_.project, 10);
    ASSERT_EQ(lines.size(), 12u);
    EXPECT_EQ(lines[1], "  a/Makefile: run by make");
    EXPECT_EQ(lines.back(), "  and 4 more");
}

TEST_F(ReviewTest, NamesEverySettingOfAConfigurationThatRunsAProgramTheMostDangerousFirst) {
    start_session();
    make_repository("lib/.git");
    write("lib/.git/config",
          "[alias]\n\tst = !x\n\tci = !x\n[user]\n\tname = me\n[core]\n\tfsmonitor = ./x\n\tpager = "
          "x\n\tpager = y\n");
    EXPECT_EQ(found(),
              "lib/.git/config: core.fsmonitor: a program that git runs at every status; also core.pager, "
              "alias.st, alias.ci|");
    std::string many;
    for (int i = 0; i < 100; ++i) many += "[filter \"f" + std::to_string(i) + "\"]\n\tclean = x\n";
    write("lib/.git/config", many);
    EXPECT_TRUE(found().ends_with(", filter.f19.clean and 80 more settings|"));
}

TEST_F(ReviewTest, WhatRunsByItselfComesBeforeWhatNeedsARequest) {
    start_session();
    make_repository("lib/.git");
    write("lib/.git/config", "[alias]\n\tst = !x\n");
    for (char letter = 'a'; letter <= 'n'; ++letter) write(std::string(1, letter) + "/Makefile");
    for (char letter = 'a'; letter <= 'l'; ++letter) write(std::string(1, letter) + "/.envrc");
    write("AGENTS.md");
    found();
    auto lines = review::describe(review_, session_.project, 10);
    EXPECT_EQ(lines[1], "  a/.envrc: run by direnv when a shell enters");
    EXPECT_EQ(lines[10], "  j/.envrc: run by direnv when a shell enters");
    EXPECT_EQ(lines.back(), "  and 18 more, 2 of which run by themselves");
    EXPECT_EQ(review_.findings[12].path.name(), "config");
    EXPECT_EQ(review_.findings[13].path.name(), "AGENTS.md");
}

TEST_F(ReviewTest, NamesCanNotDriveTheTerminal) {
    start_session();
    write("\x1b[2J/Makefile");
    found();
    EXPECT_EQ(review::describe(review_, session_.project).back().find('\x1b'), std::string::npos);
}

}  // namespace
