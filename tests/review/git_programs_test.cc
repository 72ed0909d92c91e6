// SPDX-License-Identifier: MIT
// Files of the project that settings of git's run, and what runs without a review leave to the next one.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "base/temporary_directory.h"
#include "review/known.h"
#include "review/review.h"
#include "review/session_start.h"

namespace {

using base::Path;
using testing_support::TemporaryDirectory;

class GitProgramsTest : public testing::Test {
  protected:
    void start_session() { session_.started = testing_support::start_of_session(); }
    void set(std::string_view settings) { home_.write(".gitconfig", settings); }
    // "path: why|…"
    std::string found() {
        std::string all;
        review_ = review::look_back(session_);
        for (const review::Finding& finding : review_.findings)
            all += std::string(finding.path.relative_to(session_.project)) + ": " + finding.why + "|";
        return all;
    }

    TemporaryDirectory project_, home_, state_;
    review::Session session_{.project = Path::known(project_.path()),
                             .started = {},
                             .search_path = {},
                             .record = state_.path() + "/reviewed/project",
                             .home = Path::known(home_.path()),
                             .git_configurations = {Path::known(home_.path()) / ".gitconfig"}};
    review::Review review_;
};

constexpr const char* kFsmonitor = "your git settings run it (core.fsmonitor)|";

// A layer has the files, and the project does not yet.
TEST_F(GitProgramsTest, ProgramsInALayerAreNamedAndOthersAreNot) {
    TemporaryDirectory layer;
    layer.write("tools/watch", "x");
    layer.write("hooks/pre-commit", "x");
    layer.write("tools/other", "x");
    layer.write("node_modules/a/.envrc", "x");
    layer.write(".envrc", "x");
    layer.write("package.json", R"({"scripts":{"postinstall":"x"}})");
    layer.write("sub/package.json", R"({"scripts":{"test":"x"}})");
    project_.write("Makefile", "x");
    set("[core]\n\tfsmonitor = ./tools/watch\n\thooksPath = hooks\n");
    session_.layer = review::Layer{.files = Path::known(layer.path()), .changed = {}};
    EXPECT_EQ(found(), "");
    for (std::string_view name : {"tools/watch", "hooks/pre-commit", "tools/other", "node_modules/a/.envrc",
                                  ".envrc", "package.json", "sub/package.json", "deleted/.envrc"})
        session_.layer->changed.insert(session_.project / name);
    const std::string all = found();
    for (std::string_view part : {"tools/watch: your git settings run it (core.fsmonitor)|",
                                  "hooks/pre-commit: your git settings run it (core.hookspath)|",
                                  "|.envrc: ", "|package.json: has a script that npm runs at installation|"})
        EXPECT_NE(("|" + all).find(part), std::string::npos) << part << " in " << all;
    EXPECT_EQ(review_.findings.size(), 4u) << all;
    EXPECT_EQ(
        review::describe(review_, session_.project)[0],
        "look at these before you apply, new or changed in the layer: applied, they run outside the jail:");
}

TEST_F(GitProgramsTest, ChangedProgramsOfEachKindOfSettingAreNamed) {
    struct Row {
        std::string settings;
        std::string file;
    };
    const std::string project = project_.path();
    const Row rows[] = {
        {"[core]\n\tfsmonitor = ./tools/watch\n", "tools/watch"},
        {"[core]\n\tfsmonitor = " + project + "/tools/watch\n", "tools/watch"},
        {"[core]\n\thooksPath = .hooks-of-ours\n", ".hooks-of-ours/pre-commit"},
        {"[core]\n\tsshCommand = ssh -o ProxyCommand=./tools/proxy\n", "tools/proxy"},
        {"[filter \"x\"]\n\tclean = python3 tools/clean.py %f\n", "tools/clean.py"},
        {"[diff \"x\"]\n\ttextconv = sh -c './tools/conv \\\"$0\\\"'\n", "tools/conv"},
        {"[merge \"x\"]\n\tdriver = tools/merge %A %O %B\n", "tools/merge"},
        {"[alias]\n\tlint = !./tools/lint\n", "tools/lint"},
        {"[credential]\n\thelper = !tools/helper\n", "tools/helper"},
        {"[include]\n\tpath = more\n", "tools/more"},
    };
    home_.write("more", "[core]\n\teditor = tools/more --wait\n");
    for (const Row& row : rows) {
        set(row.settings);
        project_.write(row.file, "old");
        (void)found();
        start_session();
        EXPECT_EQ(found(), "") << row.settings;
        start_session();
        project_.write(row.file, "new");
        EXPECT_TRUE(found().starts_with(row.file + ": your git settings run it ("))
            << row.settings << found();
    }
}

TEST_F(GitProgramsTest, OrdinaryFilesAndHarmlessSettingsAreNot) {
    set("[core]\n\tfsmonitor = true\n\tpager = less\n[alias]\n\tst = status\n[user]\n\tname = notes\n");
    start_session();
    for (const char* file : {"less", "status", "notes", "true"}) project_.write(file, "x");
    EXPECT_EQ(found(), "");
}

TEST_F(GitProgramsTest, ALinkAndItsTargetAreNamed) {
    set("[core]\n\tfsmonitor = ./watch\n");
    project_.write("real", "old");
    std::filesystem::create_symlink("real", project_ / "watch");
    (void)found();
    start_session();
    project_.write("real", "new");
    EXPECT_EQ(found(), std::string("real: ") + kFsmonitor);
    project_.write("other", "old");
    (void)found();
    start_session();
    std::filesystem::remove(project_ / "watch");
    std::filesystem::create_symlink("other", project_ / "watch");
    EXPECT_NE(found().find(std::string("watch: ") + kFsmonitor), std::string::npos);
}

TEST_F(GitProgramsTest, AnOlderFileThatARenamedDirectoryBringsIsNamed) {
    set("[core]\n\tfsmonitor = ./tools/watch\n");
    project_.write("tools/watch", "of the user");
    project_.write("other/watch", "planted");
    (void)found();
    start_session();
    EXPECT_EQ(found(), "");
    start_session();
    std::filesystem::rename(project_ / "tools", project_ / "aside");
    std::filesystem::rename(project_ / "other", project_ / "tools");
    EXPECT_EQ(found(), std::string("tools/watch: ") + kFsmonitor);
    start_session();
    EXPECT_EQ(found(), "");
}

TEST_F(GitProgramsTest, WhatTheUserWritesBetweenSessionsIsNotNamed) {
    set("[core]\n\tfsmonitor = ./tools/watch\n");
    project_.write("tools/watch", "old");
    (void)found();
    start_session();
    project_.write("tools/watch", "new");
    start_session();
    EXPECT_EQ(found(), "");
}

TEST_F(GitProgramsTest, SettingsOfANestedRepositoryCount) {
    for (const char* part : {"HEAD", "objects/x", "refs/x"})
        project_.write("sub/.git/" + std::string(part), "");
    project_.write("sub/.git/config", "[core]\n\tfsmonitor = ./watch\n");
    project_.write("sub/watch", "old");
    (void)found();
    start_session();
    project_.write("sub/watch", "new");
    EXPECT_EQ(found(), std::string("sub/watch: ") + kFsmonitor);
}

TEST_F(GitProgramsTest, AConfigurationThatTheSessionWroteOpensNothingOutside) {
    ASSERT_EQ(::mkfifo((home_ / "pipe").c_str(), 0600), 0);
    ASSERT_EQ(::mkfifo((project_ / "pipe").c_str(), 0600), 0);
    for (const char* part : {"HEAD", "objects/x", "refs/x"})
        project_.write("sub/.git/" + std::string(part), "");
    project_.write("sub/.git/config", "[include]\n\tpath = " + home_.path() +
                                          "/pipe\n[include]\n\tpath = " + project_.path() +
                                          "/pipe\n[core]\n\teditor = " + home_.path() + "/pipe\n");
    (void)found();  // does not wait for a writer
    set("[include]\n\tpath = pipe\n");
    (void)found();
}

TEST_F(GitProgramsTest, ARunWithoutAReviewIsCoveredByTheNext) {
    start_session();
    project_.write("Makefile", "all:");
    review::leave_to_next_review(session_);
    start_session();
    project_.write("own.mk", "all:");  // of the user, between the runs
    start_session();
    project_.write("sub/Makefile", "all:");
    EXPECT_NE(found().find("Makefile: "), std::string::npos);
    EXPECT_EQ(review_.earlier_runs, 1u);
    EXPECT_EQ(
        review::describe(review_, session_.project)[0],
        "look at these before you go on, new or changed since the last review and run outside the jail:");
    EXPECT_EQ(found().find("own.mk"), std::string::npos);
    start_session();
    EXPECT_EQ(found(), "");
    EXPECT_EQ(review_.earlier_runs, 0u);
}

TEST_F(GitProgramsTest, RunsOfOtherProjectsStayInTheFile) {
    const std::string other = state_.path() + "/reviewed/other";
    start_session();
    review::add_unreviewed(other, session_.started);
    review::add_unreviewed(session_.record, session_.started);
    EXPECT_EQ(review::take_unreviewed(session_.record).size(), 1u);
    EXPECT_EQ(review::take_unreviewed(session_.record).size(), 0u);
    EXPECT_EQ(review::take_unreviewed(other).size(), 1u);
}

TEST_F(GitProgramsTest, TheFileOfRunsStaysSmall) {
    start_session();
    std::string lines;
    while (lines.size() < (300u << 10)) lines += "other 1.0 2.0\n";
    state_.write("reviewed/runs", lines);
    review::add_unreviewed(session_.record, session_.started);
    EXPECT_LT(std::filesystem::file_size(state_ / "reviewed/runs"), 200u << 10);
    EXPECT_EQ(review::take_unreviewed(session_.record).size(), 1u);
    state_.write("reviewed/runs", "project x y\nproject 1 2\nproject\n\n");
    EXPECT_EQ(review::take_unreviewed(session_.record).size(), 0u);
}

}  // namespace
