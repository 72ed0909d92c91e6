// SPDX-License-Identifier: MIT
// Claims about native's steps, for random plans and for the seeds of the fuzz target.
#include <gtest/gtest.h>

#include <filesystem>

#include "base/file.h"
#include "base/places.h"
#include "base/rounds.h"
#include "differential/random_plan.h"
#include "native/properties.h"

namespace {

TEST(NativeSteps, KeepTheirClaimsForRandomPlans) {
    for (uint64_t seed = 0; seed < test::rounds(2000); ++seed) {
        plan::Plan plan = differential::random_plan(seed, "/tmp/scratch", "/walker", false);
        const char* broken = backends::native::broken_for_plan(plan);
        ASSERT_EQ(broken, nullptr) << broken << " (seed " << seed << ")";
    }
}

TEST(NativeSteps, KeepTheirClaimsForTheSeeds) {
    int seeds = 0;
    for (const auto& file : std::filesystem::directory_iterator(test::data("/fuzz/native/corpus/mounts"))) {
        base::Result<std::string> bytes = base::read_file(file.path());
        ASSERT_TRUE(bytes);
        const char* broken = backends::native::broken_for_mounts(*bytes);
        EXPECT_EQ(broken, nullptr) << broken << " (" << file.path() << ")";
        ++seeds;
    }
    EXPECT_GT(seeds, 0);
}

}  // namespace
