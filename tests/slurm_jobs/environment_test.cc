// SPDX-License-Identifier: MIT
#include "slurm/jobs/environment.h"

#include <gtest/gtest.h>

namespace {

using Variables = std::vector<std::string>;

const Variables kAgents = {"A=1",
                           "B=two, three",
                           "SLURM_JOB_ID=99",
                           "AGENT_SANDBOX_NETWORK_MODE=open",
                           "CUDA_VISIBLE_DEVICES=7",
                           "HTTPS_PROXY=http://198.18.0.1:3128",
                           "TMPDIR=/tmp"};
// What the jail set for itself.
const Variables kJails = {"HTTPS_PROXY=http://198.18.0.1:3128", "TMPDIR=/tmp"};

TEST(Exported, AllIsAllThatIsNotTheNodes) {
    EXPECT_EQ(slurm::exported(kAgents, "", kJails), (Variables{"A=1", "B=two, three"}));
    EXPECT_EQ(slurm::exported(kAgents, "ALL", kJails), (Variables{"A=1", "B=two, three"}));
    EXPECT_EQ(slurm::exported(kAgents, "all,A=5,C=6", kJails), (Variables{"A=5", "B=two, three", "C=6"}));
}

TEST(Exported, NoneIsNone) {
    EXPECT_TRUE(slurm::exported(kAgents, "NONE").empty());
    EXPECT_TRUE(slurm::exported(kAgents, "nil").empty());
}

TEST(Exported, NamesAreChosen) {
    EXPECT_EQ(slurm::exported(kAgents, "B,MISSING"), (Variables{"B=two, three"}));
    EXPECT_EQ(slurm::exported(kAgents, "X='a,b',A"), (Variables{"X=a,b", "A=1"}));
}

TEST(Exported, WhatOnlyTheNodeKnowsCantBeChosen) {
    EXPECT_TRUE(slurm::exported(kAgents, "SLURM_JOB_ID,AGENT_SANDBOX_NETWORK_MODE=open,PMI_FD=3").empty());
}

TEST(Exported, WhatTheAgentChangedOfTheJailsOwnPasses) {
    Variables changed = {"TMPDIR=/scratch", "http_proxy=http://squid:3128",
                         "HTTPS_PROXY=http://198.18.0.1:3128"};
    Variables passed = {"TMPDIR=/scratch", "http_proxy=http://squid:3128"};
    EXPECT_EQ(slurm::exported(changed, "", kJails), passed);
    EXPECT_EQ(slurm::exported(changed, "TMPDIR,HTTPS_PROXY,http_proxy", kJails), passed);
    EXPECT_EQ(slurm::laid_over({"TMPDIR=/tmp"}, passed), passed);
}

TEST(Exported, NamesOfTheAgentsOwnWithSlurmsPrefixPass) {
    Variables mixed = {"SLURM_MINE=1",    "SLURM_LAB_ACCOUNT=x", "SLURM_NTASKS=4",
                       "SLURM_PROCID=2",  "SLURM_JOBID=3",       "SLURM_CONF=/x",
                       "SLURM_SPANK_X=1", "SLURM_STEPMGR=n",     "SLURMD_NODENAME=n"};
    Variables own = {"SLURM_MINE=1", "SLURM_LAB_ACCOUNT=x"};
    EXPECT_EQ(slurm::exported(mixed, ""), own);
    EXPECT_EQ(slurm::laid_over({}, mixed), own);
    // A name that the node has, its Slurm has set.
    EXPECT_EQ(slurm::laid_over({"SLURM_MINE=node"}, own),
              (Variables{"SLURM_MINE=node", "SLURM_LAB_ACCOUNT=x"}));
}

TEST(Exported, AFileIsJudgedAsAnAssignmentIs) {
    std::string from(slurm::kFromFile);
    Variables sent = {"A=1",
                      "B=2",
                      from + "A=file",
                      from + "C=two\nlines",
                      from + "SLURM_JOB_ID=9",
                      from + "PMI_FD=3",
                      from + "AGENT_SANDBOX_NETWORK_MODE=open",
                      from + "=x",
                      from + "junk",
                      from + "TMPDIR=/scratch"};
    Variables file = {"A=file", "C=two\nlines", "TMPDIR=/scratch"};
    EXPECT_EQ(slurm::exported_with_file(sent, ""), file);
    EXPECT_EQ(slurm::exported_with_file(sent, "ALL"), file);
    EXPECT_TRUE(slurm::exported_with_file(sent, "NONE").empty());
    EXPECT_EQ(slurm::exported_with_file(sent, "B,A=cli"),
              (Variables{"A=cli", "C=two\nlines", "TMPDIR=/scratch", "B=2"}));
    // Without the option the entries are not exported.
    EXPECT_EQ(slurm::exported(sent, ""), (Variables{"A=1", "B=2"}));
}

TEST(MergedEnvironment, TheAgentsWinsButForTheNodes) {
    Variables given = {"A=node", "SLURM_JOB_ID=17", "PATH=/usr/bin"};
    EXPECT_EQ(slurm::laid_over(given, {"A=1", "SLURM_JOB_ID=99", "PATH=/mine", "=bad", "bad"}),
              (Variables{"A=1", "SLURM_JOB_ID=17", "PATH=/mine"}));
}

}  // namespace
