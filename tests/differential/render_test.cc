// SPDX-License-Identifier: MIT
// Claims about native's steps, for random plans and for the seeds of the fuzz target.
#include <gtest/gtest.h>

#include "base/rounds.h"
#include "differential/random_plan.h"
#include "fuzz/over_corpus.h"
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
    fuzz::expect_unbroken("native/corpus/mounts", backends::native::broken_for_mounts);
}

TEST(MountTable, IsReadAsAPlainReaderReadsIt) {
    fuzz::expect_unbroken("native/corpus/mount_table", backends::native::broken_for_mount_table);
}

}  // namespace
