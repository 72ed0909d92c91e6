// SPDX-License-Identifier: MIT
#include "slurm/entry/rank_channel.h"

#include <gtest/gtest.h>

namespace slurm {
namespace {

constexpr std::string_view kGreeting1 = "cmd=init pmi_version=1 pmi_subversion=1\n";
constexpr std::string_view kWelcome1 = "cmd=response_to_init rc=0 pmi_version=1 pmi_subversion=1\n";
constexpr std::string_view kGreeting2 = "cmd=init pmi_version=2 pmi_subversion=0\n";
constexpr std::string_view kWelcome2 = "cmd=response_to_init rc=0 pmi_version=2 pmi_subversion=0\n";

RankRequests greeted(std::string_view greeting, std::string_view welcome) {
    RankRequests requests;
    EXPECT_TRUE(requests.take(greeting));
    EXPECT_EQ(requests.next(), greeting);
    EXPECT_TRUE(requests.answered(welcome));
    return requests;
}

TEST(RankChannel, LinesGoOnOneAtATime) {
    RankRequests requests = greeted(kGreeting1, kWelcome1);
    EXPECT_TRUE(requests.take("cmd=get_maxes\ncmd=put kvsname=1.0 key=a value=b\n"));
    EXPECT_EQ(requests.next(), "cmd=get_maxes\n");
    EXPECT_EQ(requests.next(), "");
    EXPECT_TRUE(requests.answered("cmd=maxes rc=0\n"));
    EXPECT_EQ(requests.next(), "cmd=put kvsname=1.0 key=a value=b\n");
}

TEST(RankChannel, ALineInPiecesIsALine) {
    RankRequests requests = greeted(kGreeting1, kWelcome1);
    EXPECT_TRUE(requests.take("cmd=fin"));
    EXPECT_EQ(requests.next(), "");
    EXPECT_TRUE(requests.take("alize\n"));
    EXPECT_EQ(requests.next(), "cmd=finalize\n");
}

TEST(RankChannel, SpawnDoesNotGoOnInLines) {
    for (std::string_view text : {"mcmd=spawn\nnprocs=1\nendcmd\n", "cmd=spawn nprocs=1\n", "CMD=spawn\n",
                                  "cmd=\n", "\n", "cmd=get_maxesspawn\n"}) {
        RankRequests requests = greeted(kGreeting1, kWelcome1);
        EXPECT_FALSE(requests.take(text)) << text;
        EXPECT_EQ(requests.next(), "") << text;
    }
    RankRequests requests = greeted(kGreeting1, kWelcome1);
    EXPECT_TRUE(requests.take("cmd=get_maxes\nmcmd=spawn\nendcmd\n"));
    EXPECT_EQ(requests.next(), "cmd=get_maxes\n");
    EXPECT_FALSE(requests.answered("cmd=maxes rc=0\n"));
    EXPECT_EQ(requests.next(), "");
}

TEST(RankChannel, FramesGoOnAsTheyCome) {
    RankRequests requests = greeted(kGreeting2, kWelcome2);
    EXPECT_TRUE(requests.take("    14cmd=kvs-fence;    13cmd=fin"));
    EXPECT_EQ(requests.next(), "    14cmd=kvs-fence;");
    EXPECT_TRUE(requests.take("alize;"));
    EXPECT_EQ(requests.next(), "    13cmd=finalize;");
    EXPECT_TRUE(requests.take("13    cmd=finalize;"));
    EXPECT_EQ(requests.next(), "    13cmd=finalize;");
}

TEST(RankChannel, SpawnDoesNotGoOnInFrames) {
    for (std::string_view text :
         {"    18cmd=spawn;ncmds=1;", "    10spawn=cmd;", "    -1cmd=finalize;", "0x0013cmd=finalize;",
          "999999cmd=finalize;", "      cmd=finalize;", "     0", "1 3   cmd=finalize;"}) {
        RankRequests requests = greeted(kGreeting2, kWelcome2);
        EXPECT_FALSE(requests.take(text)) << text;
        EXPECT_EQ(requests.next(), "") << text;
    }
}

// All ranks of a step use the version of the first one, so the manager's version counts, not the rank's.
TEST(RankChannel, TheManagersVersionCounts) {
    RankRequests requests = greeted(kGreeting2, kWelcome1);
    EXPECT_FALSE(requests.take("    18cmd=spawn;ncmds=1;\n"));
    RankRequests unwelcome;
    EXPECT_TRUE(unwelcome.take(kGreeting2));
    EXPECT_FALSE(unwelcome.answered("cmd=response_to_init rc=14 pmi_version=1 pmi_subversion=1\n"));
}

TEST(RankChannel, NothingGoesOnBeforeTheWelcome) {
    RankRequests requests;
    EXPECT_TRUE(requests.take(std::string(kGreeting1) + "mcmd=spawn\nendcmd\n"));
    EXPECT_EQ(requests.next(), kGreeting1);
    EXPECT_FALSE(requests.answered(kWelcome1));
    EXPECT_EQ(requests.next(), "");
}

TEST(RankChannel, AGreetingIsWrittenAnew) {
    RankRequests requests;
    EXPECT_TRUE(requests.take("cmd=init pmi_version=1 pmi_subversion=1 mcmd=spawn\n"));
    EXPECT_EQ(requests.next(), kGreeting1);
    for (std::string_view text : {"mcmd=spawn\n", "cmd=init\n", "\n"}) {
        RankRequests other;
        EXPECT_FALSE(other.take(text)) << text;
    }
    RankRequests endless;
    EXPECT_FALSE(endless.take(std::string(1000, 'x')));
}

}  // namespace
}  // namespace slurm
