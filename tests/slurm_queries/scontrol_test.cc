// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "base/temporary_directory.h"
#include "slurm/jobs/spec.h"
#include "slurm_queries/conversation.h"

namespace slurm::queries {
namespace {

using chaperon::Scope;
using Lines = std::vector<std::string>;

TEST(Scontrol, ShowsOneJobInScope) {
    EXPECT_EQ(Ask()("scontrol", {"show", "job", "17"}).last().arguments, (Lines{"--", "show", "job", "17"}));
    EXPECT_EQ(Ask()("scontrol", {"-d", "show", "JOBID=20_3"}).last().arguments,
              (Lines{"--details", "--", "show", "job", "20_3"}));
    EXPECT_EQ(Ask()("scontrol", {"show", "job", "30"}).last().arguments,
              (Lines{"--", "show", "job", "67108864"}));
    EXPECT_EQ(Ask()("scontrol", {"show", "step", "30.0"}).last().arguments,
              (Lines{"--", "show", "step", "67108864.0"}));
    EXPECT_EQ(Ask()("scontrol", {"show", "job", "17", "18"}).conversation.errors,
              "too many arguments for keyword:show\n");
}

TEST(Scontrol, ShowsAllJobsInScopeOneByOne) {
    Ask ask;
    ask.answers["scontrol"] = {says("JobId=1\n\n")};
    QueryResult asked = ask("scontrol", {"show", "jobs"});
    ASSERT_EQ(asked.conversation.ran.size(), 4u);
    EXPECT_EQ(asked.conversation.ran[3].arguments.back(), "32");
    EXPECT_EQ((Ask{.jobs = {}}("scontrol", {"show", "job"}).conversation.output), "No jobs in the system\n");
}

TEST(Scontrol, ShowsWhatTheAgentAskedFor) {
    testing_support::TemporaryDirectory state;
    ASSERT_TRUE(keep_record(state.path(), "17",
                            {.command = "/lab/project/run.sh 1",
                             .directory = "/lab/project",
                             .output = "/lab/project/out-17",
                             .error = "/lab/project/out-17",
                             .input = "/dev/null"})
                    .ok());
    Ask ask{.state_directory = state.path()};
    ask.answers["scontrol"] = {
        says("JobId=17 JobName=x\n   Command=(null)\n   WorkDir=/\n   Comment=my run " + text_of(kOurs) +
             " \n   StdErr=/state/1\n   StdIn=/dev/null\n   StdOut=/state/1\n   Power=\n   \n\n")};
    EXPECT_EQ(
        ask("scontrol", {"show", "job", "17"}).conversation.output,
        "JobId=17 JobName=x\n   Command=/lab/project/run.sh 1\n   WorkDir=/lab/project\n   Comment=my run \n"
        "   StdErr=/lab/project/out-17\n   StdIn=/dev/null\n   StdOut=/lab/project/out-17\n   Power=\n   "
        "\n\n");
    QueryResult one_line = ask("scontrol", {"-o", "show", "job", "17"});
    EXPECT_EQ(one_line.conversation.output,
              "JobId=17 JobName=x Command=/lab/project/run.sh 1 WorkDir=/lab/project Comment=my run  "
              "StdErr=/lab/project/out-17 StdIn=/dev/null StdOut=/lab/project/out-17 Power= \n");
    EXPECT_EQ(one_line.last().arguments, (Lines{"--", "show", "job", "17"}));
}

// Threat: a comment imitates the first line of a job in another project, so that its record is shown.
TEST(Scontrol, ShowsNoRecordOfAJobOutOfScope) {
    testing_support::TemporaryDirectory state;
    ASSERT_TRUE(keep_record(state.path(), "30", {.output = "/secret/out"}).ok());
    Ask ask{.state_directory = state.path()};
    ask.answers["scontrol"] = {says("JobId=17 JobName=x\n   Comment=a\nJobId=30 b\n   StdOut=/state/1\n")};
    EXPECT_EQ(ask("scontrol", {"show", "job", "17"}).conversation.output.find("secret"), std::string::npos);
}

TEST(Scontrol, HasNoCommentWhereTheUserGaveNone) {
    Ask ask;
    ask.answers["scontrol"] = {
        says("JobId=18\n   WorkDir=/x\n   Comment=" + text_of(kOurs) + " \n   StdErr=/y\n")};
    EXPECT_EQ(ask("scontrol", {"show", "job", "18"}).conversation.output,
              "JobId=18\n   WorkDir=/x\n   StdErr=/y\n");
}

TEST(Scontrol, ActsOnJobsInScope) {
    EXPECT_EQ(Ask()("scontrol", {"hold", "17,20_[2-3]", "18"}).last().arguments,
              (Lines{"--", "hold", "17,20_[2-3]", "18"}));
    EXPECT_EQ(Ask()("scontrol", {"RELEASE", "JobId=17"}).last().arguments, (Lines{"--", "release", "17"}));
    EXPECT_EQ(Ask()("scontrol", {"requeuehold", "state=specialexit", "17"}).last().arguments,
              (Lines{"--", "requeuehold", "State=SpecialExit", "17"}));
    Ask ask;
    ask.answers["scontrol"] = {says("", "Invalid job id specified for job 67108864\n", 1)};
    QueryResult hidden = ask("scontrol", {"hold", "30"});
    EXPECT_EQ(hidden.last().arguments.back(), "67108864");
    EXPECT_EQ(hidden.conversation.errors, "Invalid job id specified for job 30\n");
    EXPECT_EQ(Ask()("scontrol", {"hold", "name=wrap"}).code(), code::value);
}

TEST(Scontrol, UpdatesWhatTheTableLets) {
    EXPECT_EQ(Ask()("scontrol", {"update", "TIMELIMIT=5", "jobid=17,30", "partition=main"}).last().arguments,
              (Lines{"--", "update", "JobId=17,67108864", "TimeLimit=5", "Partition=main"}));
    EXPECT_EQ(Ask()("scontrol", {"update", "job", "17", "TimeLimit+=5"}).last().arguments,
              (Lines{"--", "update", "JobId=17", "TimeLimit+=5"}));
    struct Row {
        std::string_view change, code;
    };
    for (const Row& row : {Row{"StdOut=/x", code::outside_file},
                           {"stderr=/x", code::outside_file},
                           {"WorkDir=/x", code::outside_file},
                           {"UserID=0", code::identity},
                           {"MailUser=x", code::mail},
                           {"AdminComment=x", code::administration},
                           {"NodeName=n", code::administration},
                           {"JobName=a/b", code::value},
                           {"TimeLimit=1\n", code::value},
                           {"NodeList=/etc/passwd", code::value}}) {
        QueryResult asked = Ask()("scontrol", {"update", "JobId=17", std::string(row.change)});
        EXPECT_EQ(asked.code(), row.code) << row.change;
        EXPECT_TRUE(asked.conversation.ran.empty()) << row.change;
    }
    EXPECT_EQ(Ask()("scontrol", {"update", "JobId=17", "Bogus=1"}).conversation.errors,
              "Update of this parameter is not supported: Bogus=1\nRequest aborted\n");
    EXPECT_EQ(Ask()("scontrol", {"update", "JobName=x", "TimeLimit=1"}).code(), code::value);
}

// Threat: a job leaves the scope, or enters another one, by a new comment.
TEST(Scontrol, KeepsTheTagOfAComment) {
    std::string tag = text_of(kOurs);
    EXPECT_EQ(Ask()("scontrol", {"update", "JobId=17", "comment=a\nb"}).last().arguments.back(),
              "Comment=a\nb " + tag);
    EXPECT_EQ(Ask()("scontrol", {"update", "JobId=17", "Comment="}).last().arguments.back(),
              "Comment=" + tag);
    EXPECT_EQ(Ask()("scontrol", {"update", "JobId=17", "Comment=" + text_of(kOther)}).last().arguments.back(),
              "Comment=" + text_of(kOther) + " " + tag);
    EXPECT_EQ(Ask()("scontrol", {"update", "JobId=17,18", "Comment=x"}).conversation.ran.size(), 2u);
    Ask user{.scope = Scope::user};
    EXPECT_EQ(user("scontrol", {"update", "JobId=31", "Comment=x"}).last().arguments.back(), "Comment=x");
    EXPECT_EQ(user("scontrol", {"update", "JobId=31", "Comment=" + tag}).code(), code::value);
    EXPECT_EQ(Ask()("scontrol", {"update", "JobId=17", "Comment=" + std::string(1000, 'x')}).code(),
              code::value);
}

TEST(Scontrol, ShowsTheClusterWithoutNames) {
    Ask ask;
    ask.answers["scontrol"] = {
        says("NodeName=n1 Owner=bob(1001)\n   Reason=bad [disk] [bob@2026-01-01T00:00:00]\n")};
    EXPECT_EQ(ask("scontrol", {"show", "node", "n1"}).conversation.output,
              "NodeName=n1 Owner=-\n   Reason=bad [disk] [-@2026-01-01T00:00:00]\n");
    ask.answers["scontrol"] = {says("   Users=bob,ann,eve Accounts=lab\n")};
    EXPECT_EQ(ask("scontrol", {"show", "res"}).conversation.output, "   Users=-,ann Accounts=lab\n");
    ask.answers["scontrol"] = {
        says("AuthInfo                = socket=/x\nTrackWCKey = No\nJobCompPass = secret\nAuthType = "
             "auth/munge\n")};
    EXPECT_EQ(ask("scontrol", {"show", "config"}).conversation.output,
              "TrackWCKey = No\nAuthType = auth/munge\n");
}

TEST(Scontrol, ReadsNoFileAsAHostList) {
    EXPECT_EQ(Ask()("scontrol", {"show", "hostlist", "/etc/passwd"}).code(), code::outside_file);
    EXPECT_EQ(Ask()("scontrol", {"show", "hostnames", "n[1-2]"}).last().arguments.back(), "n[1-2]");
    EXPECT_EQ((Ask{.environment = {"SLURM_JOB_NODELIST=n[1-3]"}}("scontrol", {"show", "hostnames"})
                   .last()
                   .arguments.back()),
              "n[1-3]");
}

TEST(Scontrol, RefusesAdministration) {
    for (std::string verb : {"create", "delete", "reconfigure", "shutdown", "reboot", "setdebug", "takeover",
                             "cancel_reboot", "power", "abort", "schedloglevel"}) {
        EXPECT_EQ(Ask()("scontrol", {verb, "x"}).code(), code::administration) << verb;
    }
    EXPECT_EQ(Ask()("scontrol", {"token"}).code(), code::identity);
    EXPECT_EQ(Ask()("scontrol", {}).code(), code::command);
    EXPECT_EQ(Ask()("scontrol", {"write", "batch_script", "17"}).code(), code::outside_file);
    EXPECT_EQ(Ask()("scontrol", {"show", "assoc_mgr"}).code(), code::other_users);
    EXPECT_EQ(Ask()("scontrol", {"bogus"}).conversation.errors, "invalid keyword: bogus\n");
}

// Threat: the getopt of the real scontrol reads a word as an option.
TEST(Scontrol, TakesNoWordForAnOption) {
    EXPECT_EQ(Ask()("scontrol", {"--", "show", "node", "--uid=0"}).last().arguments,
              (Lines{"--", "show", "nodes", "--uid=0"}));
}

}  // namespace
}  // namespace slurm::queries
