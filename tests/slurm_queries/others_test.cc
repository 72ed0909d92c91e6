// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "slurm/options/option.h"
#include "slurm_queries/conversation.h"

namespace slurm::queries {
namespace {

using chaperon::Scope;
using Lines = std::vector<std::string>;

TEST(Sacct, IsOfTheOwnUser) {
    Ask user{.scope = Scope::user};
    EXPECT_EQ(user("sacct", {"-X"}).last().arguments, (Lines{"--allocations", "--user=1000"}));
    EXPECT_EQ(user("sacct", {"-u", "ann", "-j", "17,18_2"}).last().arguments,
              (Lines{"--user=1000", "--jobs=17,18_2"}));
    EXPECT_EQ(user("sacct", {"-a"}).code(), code::other_users);
    EXPECT_EQ(user("sacct", {"-u", "ann,bob"}).code(), code::other_users);
    EXPECT_EQ(user("sacct", {"-f", "/etc/passwd"}).code(), code::outside_file);
}

// The answer to the question to sacct contains its nonce as the delimiter of the fields.
class AccountingConversation : public PreparedConversation {
  public:
    std::string rows;  // "17|comment|17", one a line

    base::Result<chaperon::Captured> capture(std::string_view client,
                                             const std::vector<std::string>& arguments,
                                             std::string_view input) override {
        for (const std::string& argument : arguments) {
            constexpr std::string_view kDelimiter = "--delimiter=";
            if (client != "sacct" || !argument.starts_with(kDelimiter)) continue;
            question = arguments;
            std::string answer;
            for (char letter : rows)
                answer += letter == '|' ? argument.substr(kDelimiter.size()) : std::string(1, letter);
            return says(answer);
        }
        return PreparedConversation::capture(client, arguments, input);
    }

    std::vector<std::string> question;
};

TEST(Sacct, IsBoundedByTheProject) {
    AccountingConversation conversation;
    conversation.jobs = some_jobs();
    conversation.rows = "5|old " + text_of(kOurs) + "|5\n6|" + text_of(kOther) + "|6\n7||7\n17||17\n30||30\n";
    chaperon::Context context;
    context.session = kSession;
    context.project = base::Path::known("/lab/project");
    context.uid = 1000;
    context.user = "ann";
    chaperon::Call call{.command = "sacct", .arguments = {"-n", "-S", "2020-01-01"}};
    handle_sacct(context, call, conversation);
    EXPECT_EQ(conversation.ran.back().arguments,
              (Lines{"--noheader", "--starttime=2020-01-01", "--user=1000", "--jobs=5,17,67108864"}));
    EXPECT_EQ(conversation.question.back(), "--starttime=2020-01-01");

    call.arguments = {"-j", "5,6,17.0,30"};
    handle_sacct(context, call, conversation);
    EXPECT_EQ(conversation.ran.back().arguments, (Lines{"--user=1000", "--jobs=5,67108864,17.0,134217728"}));

    // Adding job ids must not change the start of the time range.
    call.arguments = {"-s", "R"};
    handle_sacct(context, call, conversation);
    EXPECT_EQ(conversation.ran.back().arguments.back(), "--starttime=now");
    call.arguments = {};
    handle_sacct(context, call, conversation);
    EXPECT_TRUE(conversation.ran.back().arguments.back().ends_with("T00:00:00"));
}

TEST(Sacct, NamesJobsWhereUsersAreIgnored) {
    AccountingConversation conversation;
    conversation.jobs = some_jobs();
    conversation.rows = "5||5\n17||17\n";
    chaperon::Context context;
    context.scope = Scope::user;
    context.uid = 1000;
    context.user = "ann";
    chaperon::Call call{.command = "sacct", .arguments = {"--json", "-S", "2020-01-01"}};
    handle_sacct(context, call, conversation);
    EXPECT_EQ(conversation.ran.back().arguments.back(), "--jobs=5,17,67108864");
    call.arguments = {"--yaml", "-j", "5,99"};
    handle_sacct(context, call, conversation);
    EXPECT_EQ(conversation.ran.back().arguments.back(), "--jobs=5,67108864");
}

TEST(Sstat, IsGivenIdsInScope) {
    EXPECT_EQ(Ask()("sstat", {"-j", "17.batch,30", "-j", "20_1", "18"}).last().arguments,
              Lines{"--jobs=17.batch,67108864,20_1,18"});
    EXPECT_EQ(Ask()("sstat", {"abc"}).conversation.errors, "sstat: fatal: Bad job/step specified: abc\n");
    Ask ask;
    ask.answers["sstat"] = {says("", "sstat: error: couldn't get steps for job 67108864\n")};
    EXPECT_EQ(ask("sstat", {"30"}).conversation.errors, "sstat: error: couldn't get steps for job 30\n");
}

TEST(Sprio, NamesItsJobs) {
    EXPECT_EQ(Ask()("sprio", {"-l"}).last().arguments, (Lines{"--long", "--jobs=17,18,20,67108864"}));
    EXPECT_EQ(Ask()("sprio", {"-j", "30"}).last().arguments, Lines{"--jobs=67108864"});
    EXPECT_EQ(Ask()("sprio", {"-u", "bob"}).code(), code::other_users);
    EXPECT_EQ(Ask()("sprio", {"-w"}).last().arguments, Lines{"--weights"});
}

TEST(Sshare, IsOfTheOwnUser) {
    EXPECT_EQ(Ask()("sshare", {"-l"}).last().arguments, (Lines{"--long", "--users=ann"}));
    EXPECT_EQ(Ask()("sshare", {"-a"}).code(), code::other_users);
    EXPECT_EQ(Ask()("sshare", {"-u", "bob"}).code(), code::other_users);
}

TEST(Sinfo, ShowsNoNames) {
    EXPECT_EQ(Ask()("sinfo", {"-N", "-o", "%N %t"}).last().arguments, (Lines{"--format=%N %t", "--Node"}));
    Ask ask;
    ask.answers["sinfo"] = {
        says("REASON               USER      TIMESTAMP           NODELIST\n"
             "bad disk             bob       2026-01-01T00:00:00 n1\n"
             "my test              ann       2026-01-01T00:00:00 n2\n")};
    EXPECT_EQ(ask("sinfo", {"-R"}).conversation.output,
              "REASON               USER      TIMESTAMP           NODELIST\n"
              "bad disk             -         2026-01-01T00:00:00 n1\n"
              "my test              ann       2026-01-01T00:00:00 n2\n");
    EXPECT_EQ(Ask()("sinfo", {"-o", "%all"}).code(), code::other_users);
    std::string format = Ask()("sinfo", {"-o", "%.9u|%N"}).argument("--format=");
    EXPECT_NE(format.find("%un"), std::string::npos) << format;
}

TEST(Sdiag, LeavesOutUsers) {
    Ask ask;
    ask.answers["sdiag"] = {
        says("a\n\nRemote Procedure Call statistics by user\n\tbob count:1\n\tann count:2\n\n"
             "Pending RPC statistics\n\tNo pending RPCs\n")};
    EXPECT_EQ(ask("sdiag", {}).conversation.output, "a\n\nPending RPC statistics\n\tNo pending RPCs\n");
    EXPECT_EQ(Ask()("sdiag", {"--reset"}).code(), code::administration);
}

TEST(Sreport, IsAboutTheCluster) {
    EXPECT_EQ(Ask()("sreport", {"-n", "cluster", "utilization", "start=2026-01-01"}).last().arguments,
              (Lines{"--noheader", "--", "cluster", "Utilization", "start=2026-01-01"}));
    EXPECT_EQ(Ask()("sreport", {"user", "top"}).code(), code::other_users);
    EXPECT_EQ(Ask()("sreport", {"cluster", "AccountUtilizationByUser"}).code(), code::other_users);
    EXPECT_EQ(Ask()("sreport", {}).code(), code::command);
    EXPECT_EQ(Ask()("sreport", {"reservation", "utilization", "format=name,Assoc%40"}).code(),
              code::other_users);
    EXPECT_EQ(Ask()("sreport", {"cluster", "utilization", "users=bob"}).code(), code::unknown_option);
}

TEST(Sacctmgr, OnlyShowsTheCluster) {
    EXPECT_EQ(Ask()("sacctmgr", {"-n", "-p", "list", "QOS", "format=name"}).last().arguments,
              (Lines{"--noheader", "--parsable", "--", "list", "qos", "format=name"}));
    EXPECT_EQ(Ask()("sacctmgr", {"show", "cluster"}).last().arguments, (Lines{"--", "show", "clusters"}));
    for (std::string entity : {"user", "account", "assoc", "events", "transactions", "wckeys"}) {
        EXPECT_EQ(Ask()("sacctmgr", {"show", entity}).code(), code::other_users) << entity;
    }
    for (std::string verb : {"add", "create", "modify", "delete", "remove", "archive", "dump", "load"}) {
        EXPECT_EQ(Ask()("sacctmgr", {"-i", verb, "user", "x"}).code(), code::administration) << verb;
    }
    EXPECT_EQ(Ask()("sacctmgr", {"show", "qos", "withassoc"}).code(), code::unknown_option);
}

TEST(RefusedCommands, HaveTheirReason) {
    for (const RefusedCommand& refused : refused_commands()) {
        QueryResult asked = Ask()(std::string(refused.name), {"--help"});
        EXPECT_EQ(asked.code(), refused.code);
        EXPECT_EQ(asked.ending.status, 1);
    }
}

TEST(Queries, TellAboutThemselves) {
    EXPECT_EQ(Ask()("squeue", {"--version", "--json"}).last(), (Ran{"squeue", {"--version"}}));
    EXPECT_EQ(Ask()("scancel", {"17", "--help"}).last(), (Ran{"scancel", {"--help"}}));
}

TEST(Queries, AreRefusedWithUnknownOptions) {
    for (std::string command : {"squeue", "scancel", "scontrol", "sacct", "sacctmgr", "sinfo", "sstat",
                                "sprio", "sshare", "sdiag", "sreport"}) {
        QueryResult asked = Ask()(command, {"--no-such-option"});
        EXPECT_TRUE(asked.conversation.ran.empty()) << command;
        EXPECT_NE(asked.ending.status, 0) << command;
    }
}

}  // namespace
}  // namespace slurm::queries
