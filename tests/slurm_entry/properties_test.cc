// SPDX-License-Identifier: MIT
#include "slurm_entry/properties.h"

#include <gtest/gtest.h>

#include "fuzz/over_corpus.h"

namespace {

TEST(RankProperties, HoldForEverySeed) {
    fuzz::expect_unbroken("slurm/corpus/ranks", slurm::broken_for_ranks);
}

}  // namespace
