// SPDX-License-Identifier: MIT
// The review reports a file that one session plants and the next one moves to a place where it runs, although
// the file is old.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "base/temporary_directory.h"
#include "review/review.h"
#include "review/session_start.h"

namespace {

using base::Path;
using testing_support::TemporaryDirectory;

class MovedFilesTest : public testing::Test {
  protected:
    void start_session() { session_.started = testing_support::start_of_session(); }
    std::string found(const review::Limits& limits = {}) {
        std::string all;
        for (const review::Finding& finding : review::look_back(session_, limits).findings)
            all += std::string(finding.path.relative_to(session_.project)) + "|";
        return all;
    }
    void move(const char* from, const char* to) {
        std::filesystem::create_directories((project_ / to));
        std::filesystem::remove(project_ / to);
        std::filesystem::rename(project_ / from, project_ / to);
    }

    TemporaryDirectory project_, state_;
    review::Session session_{Path::known(project_.path()), {}, {}, state_.path() + "/reviewed/project"};
};

TEST_F(MovedFilesTest, OutOfATreeThatIsPassedOver) {
    start_session();
    project_.write("node_modules/x/Makefile", "all:");
    EXPECT_EQ(found(), "");
    start_session();
    move("node_modules/x", "x");
    EXPECT_EQ(found(), "x/Makefile|");
    start_session();
    EXPECT_EQ(found(), "");
}

TEST_F(MovedFilesTest, FromANameThatNoListHas) {
    start_session();
    project_.write("notes/tasks.json", "{}");
    EXPECT_EQ(found(), "");
    start_session();
    move("notes", ".vscode");
    EXPECT_EQ(found(), ".vscode/tasks.json|");
}

TEST_F(MovedFilesTest, ARepositoryWithHooks) {
    start_session();
    for (const char* part : {"HEAD", "objects/x", "refs/x", "config"})
        project_.write("target/r/" + std::string(part), "");
    ASSERT_EQ(::chmod(project_.write("target/r/hooks/pre-commit", "x").c_str(), 0755), 0);
    EXPECT_EQ(found(), "");
    start_session();
    move("target/r", "r");
    EXPECT_EQ(found(), "r/hooks/pre-commit|");
}

TEST_F(MovedFilesTest, WhatTheUserWritesBetweenSessionsIsNotTold) {
    project_.write("Makefile", "all:");
    start_session();
    EXPECT_EQ(found(), "");
    start_session();  // waits until the clock of file systems has passed the review
    project_.write("sub/Makefile", "all:");
    start_session();
    EXPECT_EQ(found(), "");
}

TEST_F(MovedFilesTest, AfterAnIncompleteReviewTimesAloneCount) {
    project_.write("a/b/Makefile", "all:");
    start_session();
    EXPECT_EQ(found({.depth = 2}), "");
    start_session();
    EXPECT_EQ(found(), "");
}

}  // namespace
