// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "slurm_queries/conversation.h"

namespace slurm::queries {
namespace {

using chaperon::Scope;
using Lines = std::vector<std::string>;

TEST(Scancel, ActsOnJobsInScope) {
    EXPECT_EQ(Ask()("scancel", {"17", "20_3", "18.0"}).last(),
              (Ran{"scancel", {"--", "17", "20_3", "18.0"}}));
    EXPECT_EQ(Ask()("scancel", {"17,18"}).last().arguments, (Lines{"--", "17", "18"}));
    EXPECT_EQ(Ask()("scancel", {"-b", "-s", "USR1", "--me", "17"}).last().arguments,
              (Lines{"--batch", "--signal=USR1", "--me", "--", "17"}));
}

// Threat: the agent cancels by number a job that the session must not touch.
TEST(Scancel, NamesNoJobInThePlaceOfOneOutOfScope) {
    Ask ask;
    ask.answers["scancel"] = {
        says("", "scancel: error: Kill job error on job id 67108864: Invalid job id specified\n", 1)};
    for (Scope scope : {Scope::project, Scope::session}) {
        ask.scope = scope;
        // 30 is the user's own, of another project; 99 is not the user's.
        QueryResult asked = ask("scancel", {"--me", "30", "99", "17"});
        EXPECT_EQ(asked.last().arguments, (Lines{"--me", "--", "67108864", "17"}));
        EXPECT_EQ(asked.conversation.errors,
                  "scancel: error: Kill job error on job id 99: Invalid job id specified\n");
        EXPECT_EQ(asked.ending.status, 1);
        ASSERT_EQ(asked.conversation.denials.size(), 1u);
        EXPECT_EQ(asked.code(), code::not_in_scope);
        EXPECT_TRUE(asked.conversation.denials[0].what.starts_with("your job 30 is not one of this "));
        // With other jobs alone nothing runs: without a job, scancel --me would end all.
        QueryResult alone = ask("scancel", {"--me", "30", "31.0"});
        EXPECT_TRUE(alone.conversation.ran.empty());
        EXPECT_EQ(alone.ending.status, 1);
    }
}

TEST(Scancel, IsOfTheUsersJobsWhateverTheScope) {
    EXPECT_EQ((Ask{.scope = Scope::none}("scancel", {"30", "99"}).last().arguments),
              (Lines{"--", "30", "67108864"}));
}

TEST(Scancel, SelectsAmongTheJobsInScopeThatLast) {
    EXPECT_EQ(Ask()("scancel", {"--me"}).last().arguments, (Lines{"--me", "--", "17", "18", "20"}));
    EXPECT_EQ(Ask()("scancel", {"-n", "x", "-t", "PD"}).last().arguments,
              (Lines{"--name=x", "--state=PD", "--", "17", "18", "20"}));
    QueryResult none = Ask{.jobs = {}}("scancel", {"--me"});
    EXPECT_TRUE(none.conversation.ran.empty());
    EXPECT_EQ(none.ending.status, 0);
}

TEST(Scancel, IsSilentAboutJobsThatEndedMeanwhile) {
    Ask ask;
    ask.answers["scancel"] = {
        says("", "scancel: error: Kill job error on job id 18: Invalid job id specified\n", 1)};
    QueryResult asked = ask("scancel", {"--me"});
    EXPECT_EQ(asked.conversation.errors, "");
    EXPECT_EQ(asked.ending.status, 0);
}

TEST(Scancel, ReadsIdsCompletely) {
    for (std::string word : {"abc", "17x", "17;18", "--", ""}) {
        QueryResult asked = Ask()("scancel", {"--", "17", word});
        EXPECT_TRUE(asked.conversation.ran.empty()) << word;
        EXPECT_EQ(asked.ending.status, 1);
    }
    EXPECT_EQ(Ask()("scancel", {"abc"}).conversation.errors, "scancel: error: Invalid job id abc\n");
}

TEST(Scancel, LeavesItToSlurmToSayThatNothingWasGiven) {
    QueryResult asked = Ask()("scancel", {});
    EXPECT_EQ(asked.last(), (Ran{"scancel", {}}));
    EXPECT_EQ(asked.conversation.questions, 0);
}

TEST(Scancel, RefusesQuestionsBackAndFiles) {
    EXPECT_EQ(Ask()("scancel", {"-i", "17"}).code(), code::command);
    EXPECT_TRUE(Ask()("scancel", {"-w", "/etc/passwd"}).conversation.ran.empty());
}

}  // namespace
}  // namespace slurm::queries
