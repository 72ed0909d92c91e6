// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "slurm_queries/conversation.h"

namespace slurm::queries {
namespace {

using chaperon::Scope;
using Lines = std::vector<std::string>;

TEST(Squeue, IsGivenTheJobsInScope) {
    Asked asked = Ask()("squeue", {"-l", "-p", "main"});
    EXPECT_EQ(asked.last(), (Ran{"squeue", {"--long", "--partitions=main", "--jobs=17,18,20,32,67108864"}}));
    EXPECT_EQ(asked.conversation.questions, 1);
    EXPECT_EQ((Ask{.scope = Scope::user}("squeue", {}).argument("--jobs")),
              "--jobs=17,18,20,30,31,32,67108864");
    EXPECT_EQ((Ask{.scope = Scope::session}("squeue", {}).argument("--jobs")), "--jobs=17,18,20,32,67108864");
    EXPECT_EQ((Ask{.scope = Scope::session, .launcher_job = "31"}("squeue", {}).argument("--jobs")),
              "--jobs=17,18,20,31,32,67108864");
}

TEST(Squeue, IsNotRestrictedWithoutAScope) {
    Asked asked = Ask{.scope = Scope::none}("squeue", {"-j", "30,31"});
    EXPECT_EQ(asked.last().arguments, Lines{"--jobs=30,31"});
    EXPECT_EQ(asked.conversation.questions, 0);
    EXPECT_TRUE((Ask{.scope = Scope::none}("squeue", {}).last().arguments.empty()));
}

TEST(Squeue, HasOnlyItsHeadingWhereNothingIsInScope) {
    EXPECT_EQ((Ask{.jobs = {}}("squeue", {}).argument("--jobs")), "--jobs=134217728,67108864");
}

// Threat: ids that exist answer otherwise than ids that do not.
TEST(Squeue, AsksForNoJobInThePlaceOfOneOutOfScope) {
    EXPECT_EQ(Ask()("squeue", {"-j30"}).argument("--jobs"), "--jobs=67108864");
    EXPECT_EQ(Ask()("squeue", {"-j", "99"}).argument("--jobs"), "--jobs=67108864");
    EXPECT_EQ(Ask()("squeue", {"--jobs=17,30,20_3,31"}).argument("--jobs"),
              "--jobs=17,67108864,20_3,134217728");
    EXPECT_EQ(Ask()("squeue", {"--steps=17.0,30.0"}).argument("--steps"), "--steps=17.0,67108864.0");
}

TEST(Squeue, TakesIdsAsTheRealOneDoes) {
    EXPECT_EQ(Ask()("squeue", {"-s", "17.0"}).last().arguments, Lines{"--steps=17.0"});
    EXPECT_EQ(Ask()("squeue", {"-s", "-j", "17"}).last().arguments, (Lines{"--steps", "--jobs=17"}));
    Asked bad = Ask()("squeue", {"-j", "abc"});
    EXPECT_EQ(bad.conversation.errors, "squeue: error: Invalid job id: abc\n");
    EXPECT_EQ(bad.ending.status, 1);
    EXPECT_TRUE(bad.conversation.ran.empty());
}

TEST(Squeue, CombinesUsersWithTheScope) {
    EXPECT_EQ(Ask()("squeue", {"--me", "-u", "bob"}).last().arguments,
              (Lines{"--me", "--users=bob", "--jobs=17,18,20,32,67108864"}));
}

TEST(Squeue, ShowsCommentsWithoutTags) {
    Ask ask;
    std::string tag = text_of(kOurs);
    // The nonce of the format is not known here: without marks the output stays, and tags still go.
    ask.answers["squeue"] = {says("17|my run " + tag + "|x\n")};
    EXPECT_EQ(ask("squeue", {"-o", "%all"}).conversation.output, "17|my run|x\n");
}

TEST(Squeue, MarksCommentColumns) {
    std::string format = Ask()("squeue", {"-o", "%i|%.10k|%j"}).argument("--format=");
    std::string mark = format.substr(std::string("--format=%i|").size(), 33);
    EXPECT_EQ(format, "--format=%i|" + mark + "%k" + mark + "|%j");
    std::string wide = Ask()("squeue", {"-O", "jobid,Comment:.8x"}).argument("--Format=");
    EXPECT_TRUE(wide.starts_with("--Format=jobid:20n")) << wide;
    EXPECT_NE(wide.find(",Comment:1100n"), std::string::npos) << wide;
}

TEST(Squeue, ReadsItsVariables) {
    Ask ask{.environment = {"SQUEUE_FORMAT=%i", "SQUEUE_PARTITION=main", "SLURM_TIME_FORMAT=relative"}};
    EXPECT_EQ(ask("squeue", {}).argument("--format"), "--format=%i");
    EXPECT_EQ(ask("squeue", {"-o", "%j"}).argument("--format"), "--format=%j");
    EXPECT_EQ(ask("squeue", {"-O", "jobid"}).argument("--format"), "");
}

TEST(Squeue, RefusesWhatCanNotBeNarrowed) {
    for (std::vector<std::string> arguments : {Lines{"--json"}, Lines{"--yaml"}, Lines{"-M", "other"},
                                               Lines{"--federation"}, Lines{"--sibling"}, Lines{"-i", "5"}}) {
        Asked asked = Ask()("squeue", arguments);
        EXPECT_EQ(asked.conversation.denials.size(), 1u) << arguments[0];
        EXPECT_TRUE(asked.conversation.ran.empty());
    }
}

TEST(Squeue, SaysWhatSlurmSaysWhenItIsDown) {
    PreparedConversation conversation;
    conversation.question_answer = says("", "slurm_load_jobs error: Unable to contact slurm controller\n", 1);
    chaperon::Context context;
    context.user = "ann";
    chaperon::Call call{.command = "squeue"};
    EXPECT_EQ(handle_squeue(context, call, conversation).status, 1);
    EXPECT_EQ(conversation.errors, "slurm_load_jobs error: Unable to contact slurm controller\n");
    EXPECT_TRUE(conversation.ran.empty());
}

}  // namespace
}  // namespace slurm::queries
