// SPDX-License-Identifier: MIT
#include "plan/properties.h"

#include <gtest/gtest.h>

#include "fuzz/over_corpus.h"

namespace {

TEST(PlanProperties, HoldForEverySeed) {
    fuzz::expect_unbroken("plan/corpus/git_change", plan::broken_for_git_change);
    fuzz::expect_unbroken("plan/corpus/git_config", plan::broken_for_git_config);
    fuzz::expect_unbroken("plan/corpus/git_index", plan::broken_for_git_index);
    fuzz::expect_unbroken("plan/corpus/git_link", plan::broken_for_git_link);
    fuzz::expect_unbroken("plan/corpus/known_hosts", plan::broken_for_known_hosts);
    fuzz::expect_unbroken("plan/corpus/marks", plan::broken_for_marks);
    fuzz::expect_unbroken("plan/corpus/registry", plan::broken_for_registry);
    fuzz::expect_unbroken("plan/corpus/seeded", plan::broken_for_seeded);
    fuzz::expect_unbroken("plan/corpus/summary", plan::broken_for_summary);
}

TEST(PlanProperties, SeedsAreOfThisVersion) {
    for (const char* seed : {"version-2", "version-4", "sha256"})
        EXPECT_EQ(
            plan::tracked_among(fuzz::seed("plan/corpus/git_index/" + std::string(seed)), {".env", "a"}),
            plan::TrackedPaths{".env"})
            << seed;
    EXPECT_TRUE(plan::decode_summary(fuzz::seed("plan/corpus/summary/full")));
    EXPECT_FALSE(plan::decode_summary(fuzz::seed("plan/corpus/summary/no-mode")));
}

}  // namespace
