// SPDX-License-Identifier: MIT
#include "plan/properties.h"

#include <gtest/gtest.h>

#include "fuzz/over_corpus.h"

namespace {

TEST(PlanProperties, HoldForEverySeed) {
    fuzz::expect_unbroken("plan/corpus/git_config", plan::broken_for_git_config);
    fuzz::expect_unbroken("plan/corpus/git_link", plan::broken_for_git_link);
    fuzz::expect_unbroken("plan/corpus/marks", plan::broken_for_marks);
    fuzz::expect_unbroken("plan/corpus/seeded", plan::broken_for_seeded);
    fuzz::expect_unbroken("plan/corpus/summary", plan::broken_for_summary);
}

TEST(PlanProperties, SeedsAreOfThisVersion) {
    EXPECT_TRUE(plan::decode_summary(fuzz::seed("plan/corpus/summary/full")));
    EXPECT_FALSE(plan::decode_summary(fuzz::seed("plan/corpus/summary/no-mode")));
}

}  // namespace
