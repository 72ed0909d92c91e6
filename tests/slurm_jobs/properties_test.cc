// SPDX-License-Identifier: MIT
#include "slurm_jobs/properties.h"

#include <gtest/gtest.h>

#include "fuzz/over_corpus.h"

namespace {

TEST(JobProperties, HoldForEverySeed) {
    fuzz::expect_unbroken("slurm/corpus/spec", slurm::broken_for_spec);
    fuzz::expect_unbroken("slurm/corpus/patterns", slurm::broken_for_patterns);
}

}  // namespace
