// SPDX-License-Identifier: MIT
#include "slurm/jobs/environment.h"

#include <gtest/gtest.h>

namespace {

const std::vector<std::string> kFacts = {
    "SLURM_JOB_ID=17",      "SLURM_ARRAY_JOB_ID=15", "SLURM_ARRAY_TASK_ID=3", "SLURMD_NODENAME=n1.site",
    "SLURM_NODEID=2",       "SLURM_PROCID=5",        "SLURM_STEP_ID=0",       "USER=ann",
    "SLURM_JOB_NAME=my job"};

struct Row {
    std::string_view pattern, name;
};

class Patterns : public testing::TestWithParam<Row> {};

TEST_P(Patterns, AreFilledIn) {
    EXPECT_EQ(slurm::expand_pattern(GetParam().pattern, kFacts, "/p"), GetParam().name);
}

INSTANTIATE_TEST_SUITE_P(All, Patterns,
                         testing::Values(Row{"slurm-%j.out", "/p/slurm-17.out"},
                                         Row{"slurm-%A_%a.out", "/p/slurm-15_3.out"},
                                         Row{"/abs/%x", "/abs/my job"}, Row{"%u-%N-%n-%t", "/p/ann-n1-2-5"},
                                         Row{"%J", "/p/17.0"}, Row{"%5j", "/p/00017"},
                                         Row{"%99j", "/p/0000000017"}, Row{"100%%", "/p/100%"},
                                         Row{"%q%", "/p/%q%"}, Row{"\\%j", "/p/%j"}, Row{"%s", "/p/0"}));

TEST(Patterns, WithoutFactsHaveSlurmsOwnNumbers) {
    EXPECT_EQ(slurm::expand_pattern("%A_%a", {"SLURM_JOB_ID=9"}, "/p"), "/p/9_4294967294");
}

}  // namespace
