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
                           "HTTPS_PROXY=http://198.18.0.1:3128"};

TEST(Exported, AllIsAllThatIsNotTheNodes) {
    EXPECT_EQ(slurm::exported(kAgents, ""), (Variables{"A=1", "B=two, three"}));
    EXPECT_EQ(slurm::exported(kAgents, "ALL"), (Variables{"A=1", "B=two, three"}));
    EXPECT_EQ(slurm::exported(kAgents, "all,A=5,C=6"), (Variables{"A=5", "B=two, three", "C=6"}));
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

TEST(LaidOver, TheAgentsWinsButForTheNodes) {
    Variables given = {"A=node", "SLURM_JOB_ID=17", "PATH=/usr/bin"};
    EXPECT_EQ(slurm::laid_over(given, {"A=1", "SLURM_JOB_ID=99", "PATH=/mine", "=bad", "bad"}),
              (Variables{"A=1", "SLURM_JOB_ID=17", "PATH=/mine"}));
}

}  // namespace
