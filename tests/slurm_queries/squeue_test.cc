// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "slurm_queries/conversation.h"

namespace slurm::queries {
namespace {

using chaperon::Scope;
using Lines = std::vector<std::string>;

// The output of the user's format for these jobs.
std::string rows_of(const Lines& ids) {
    std::string text;
    for (const std::string& id : ids) text += " shows " + id + "\nand more\n";
    return text;
}

TEST(Squeue, IsAskedOnceAndShowsWhatIsInScope) {
    QueryResult asked = Ask()("squeue", {"-p", "main", "--me", "-S", "i"});
    EXPECT_EQ(asked.conversation.questions, 0);
    ASSERT_EQ(asked.conversation.ran.size(), 1u);
    Lines arguments = asked.last().arguments;
    ASSERT_EQ(arguments.size(), 4u);
    std::string nonce = arguments[3].substr(std::string("--format=").size(), 33);
    EXPECT_EQ(arguments, (Lines{"--partitions=main", "--sort=i", "--users=1000",
                                "--format=" + nonce + "%A" + nonce + "%F" + nonce + "%i" + nonce + "%T" +
                                    nonce + "%k" + nonce + "%.18i %.9P %.8j %.8u %.2t %.10M %.6D %R"}));
    EXPECT_EQ(asked.conversation.output, rows_of({"JOBID", "17", "18", "20_[2-5%1]", "20_1", "32"}));
    EXPECT_EQ(asked.conversation.errors, "a warning\n");
}

TEST(Squeue, ShowsInOneCallWhatEachScopeHas) {
    Lines ours = {"17", "18", "20_[2-5%1]", "20_1", "32"};
    EXPECT_EQ((Ask{.scope = Scope::session}("squeue", {"-h"}).conversation.output), rows_of(ours));
    EXPECT_EQ((Ask{.scope = Scope::session, .launcher_job = "31"}("squeue", {"-h"}).conversation.output),
              rows_of({"17", "18", "20_[2-5%1]", "20_1", "31", "32"}));
    EXPECT_EQ((Ask{.scope = Scope::user}("squeue", {"-h"}).conversation.output),
              rows_of({"17", "18", "20_[2-5%1]", "20_1", "30", "31", "32"}));
    EXPECT_EQ((Ask{.jobs = {}}("squeue", {}).conversation.output), rows_of({"JOBID"}));
    EXPECT_EQ((Ask{.jobs = {}}("squeue", {"-h"}).conversation.output), "");
}

TEST(Squeue, ShowsInOneCallWhatTwoCallsWouldOfMixedGroups) {
    std::string ours = text_of(kOurs);
    std::vector<PreparedJob> jobs = {{"40", "40", "40_[2-5]", ours},   {"41", "40", "40_1", "mine"},
                                     {"50", "50", "50_[2-5]", "mine"}, {"51", "50", "50_1", ours},
                                     {"60", "60", "60+0", ours},       {"61", "61", "60+1", ours},
                                     {"70", "70", "70+0", ours},       {"71", "71", "70+1", "mine"}};
    Ask ask{.jobs = jobs};
    EXPECT_EQ(ask("squeue", {"-h"}).conversation.output, rows_of({"50_1", "60+0", "60+1"}));
    EXPECT_EQ(ask("squeue", {"-l"}).argument("--jobs"), "--jobs=51,60,67108864");
}

// Threat: a comment imitates rows of squeue.
TEST(Squeue, IsNotFooledByComments) {
    std::string ours = text_of(kOurs);
    std::string forged = "x\n" + std::string(33, 'n') + "30 " + ours + "\n shows 30\n";
    Ask ask{.jobs = {{"17", "17", "17", forged + " " + ours}, {"30", "30", "30", forged}}};
    EXPECT_EQ(ask("squeue", {"-h"}).conversation.output, rows_of({"17"}));
}

TEST(Squeue, HasItsOwnFormatsInOneCall) {
    auto format = [](const Lines& arguments, const Lines& environment = {}) {
        std::string whole = Ask{.environment = environment}("squeue", arguments).argument("--format=");
        size_t nonces = std::string("--format=").size() + 6 * 33 + 5 * 2;
        return whole.size() < nonces ? "" : whole.substr(nonces);
    };
    EXPECT_EQ(format({"--start"}), "%.18i %.9P %.8j %.8u %.2t %.19S %.6D %20Y %R");
    EXPECT_EQ(format({"-o", "x %i", "--start"}), "x %i");
    EXPECT_EQ(format({"-r", "-t", "all", "-u", "ann"}, {"SQUEUE_FORMAT=%j"}), "%j");
    EXPECT_EQ(format({"-o", "%i"}, {"SQUEUE_FORMAT=%j"}), "%i");
}

TEST(Squeue, IsGivenTheJobsInScopeWhereOneCallDoesNotDo) {
    QueryResult asked = Ask()("squeue", {"-l", "-p", "main"});
    EXPECT_EQ(asked.last(), (Ran{"squeue", {"--long", "--partitions=main", "--jobs=17,18,20,32,67108864"}}));
    EXPECT_EQ(asked.conversation.questions, 1);
    EXPECT_EQ((Ask{.scope = Scope::user}("squeue", {"-l"}).argument("--jobs")),
              "--jobs=17,18,20,30,31,32,67108864");
    EXPECT_EQ((Ask{.scope = Scope::session}("squeue", {"-l"}).argument("--jobs")),
              "--jobs=17,18,20,32,67108864");
    EXPECT_EQ((Ask{.scope = Scope::session, .launcher_job = "31"}("squeue", {"-l"}).argument("--jobs")),
              "--jobs=17,18,20,31,32,67108864");
    for (const Lines& arguments :
         {Lines{"-j", "17"}, Lines{"-s"}, Lines{"-v"}, Lines{"-O", "jobid"}, Lines{"-o", "%k"},
          Lines{"-o", "%ALL"}, Lines{"-o", ""}, Lines{"-u", "ann,bob"}, Lines{"-U", "x"}}) {
        EXPECT_EQ(Ask()("squeue", arguments).conversation.questions, 1) << arguments[0];
    }
}

TEST(Squeue, IsNotRestrictedWithoutAScope) {
    QueryResult asked = Ask{.scope = Scope::none}("squeue", {"-j", "30,31"});
    EXPECT_EQ(asked.last().arguments, Lines{"--jobs=30,31"});
    EXPECT_EQ(asked.conversation.questions, 0);
    EXPECT_TRUE((Ask{.scope = Scope::none}("squeue", {}).last().arguments.empty()));
}

TEST(Squeue, HasOnlyItsHeadingWhereNothingIsInScope) {
    EXPECT_EQ((Ask{.jobs = {}}("squeue", {"-l"}).argument("--jobs")), "--jobs=134217728,67108864");
}

// Threat: the answer for an id that exists differs from the answer for one that does not.
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
    QueryResult bad = Ask()("squeue", {"-j", "abc"});
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
    // The test can't predict the nonce, so this answer has no marks: the output stays, and tags are still
    // removed.
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
    EXPECT_TRUE(ask("squeue", {}).argument("--format").ends_with("%i"));
    EXPECT_TRUE(ask("squeue", {"-o", "%j"}).argument("--format").ends_with("%j"));
    EXPECT_EQ(ask("squeue", {}).argument("--partitions"), "--partitions=main");
    EXPECT_EQ(ask("squeue", {"-O", "jobid"}).argument("--format"), "");
}

TEST(Squeue, RefusesWhatCanNotBeNarrowed) {
    for (std::vector<std::string> arguments :
         {Lines{"--yaml"}, Lines{"--federation"}, Lines{"--sibling"}, Lines{"-i", "5"}}) {
        QueryResult asked = Ask()("squeue", arguments);
        EXPECT_EQ(asked.conversation.denials.size(), 1u) << arguments[0];
        EXPECT_TRUE(asked.conversation.ran.empty());
    }
}

TEST(Squeue, NamesThisClusterAlone) {
    std::string configuration = "Configuration data\nClusterName             = here\nX = ClusterName = b\n";
    Ask ask{.answers = {{"scontrol", {says(configuration)}}}};
    for (const Lines& arguments : {Lines{"-M", "all"}, Lines{"--clusters=here"}, Lines{"--cluster=here,all"},
                                   Lines{"-Mall", "-Mhere", "-j", "17"}, Lines{"-Mall", "-O", "comment"}}) {
        QueryResult asked = ask("squeue", arguments);
        EXPECT_EQ(asked.last().client, "squeue");
        EXPECT_EQ(asked.argument("--clusters"), "--clusters=here");
        EXPECT_EQ(std::ranges::count(asked.last().arguments, "--clusters=here"), 1);
    }
    ask.environment = {"SLURM_CLUSTERS=all"};
    EXPECT_EQ(ask("squeue", {}).argument("--clusters"), "--clusters=here");
    EXPECT_EQ(ask("squeue", {"-Mother"}).code(), "slurm-other-cluster");
    EXPECT_EQ(ask("squeue", {"-Mhere,other"}).code(), "slurm-other-cluster");
    ask.environment = {"SLURM_CLUSTERS=other"};
    EXPECT_EQ(ask("squeue", {}).code(), "slurm-other-cluster");
    EXPECT_EQ(ask("squeue", {"-Mall"}).argument("--clusters"), "--clusters=here");
    ask = {.answers = {{"scontrol", {says("", "down", 1)}}}};
    EXPECT_EQ(ask("squeue", {"-Mall"}).code(), "slurm-unavailable");
    EXPECT_EQ(ask("squeue", {"-Mall"}).last().client, "scontrol");
}

TEST(Squeue, SaysWhatSlurmSaysWhenItIsDown) {
    PreparedConversation conversation;
    conversation.question_answer = says("", "slurm_load_jobs error: Unable to contact slurm controller\n", 1);
    chaperon::Context context;
    context.user = "ann";
    chaperon::Call call{.command = "squeue"};
    EXPECT_EQ(handle_squeue(context, call, conversation).status, 1);
    EXPECT_EQ(conversation.errors, "slurm_load_jobs error: Unable to contact slurm controller\n");
    EXPECT_EQ(conversation.output, "");
    EXPECT_EQ(conversation.ran.size(), 1u);
    conversation.errors = "";
    call.arguments = {"-l"};
    EXPECT_EQ(handle_squeue(context, call, conversation).status, 1);
    EXPECT_EQ(conversation.errors, "slurm_load_jobs error: Unable to contact slurm controller\n");
    EXPECT_EQ(conversation.ran.size(), 1u);
}

}  // namespace
}  // namespace slurm::queries
