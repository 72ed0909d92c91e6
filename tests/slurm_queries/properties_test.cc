// SPDX-License-Identifier: MIT
#include "slurm_queries/properties.h"

#include <gtest/gtest.h>

#include "fuzz/over_corpus.h"

namespace {

TEST(QueryProperties, HoldForEverySeed) {
    fuzz::expect_unbroken("slurm/corpus/columns", slurm::queries::broken_for_columns);
    fuzz::expect_unbroken("slurm/corpus/masks", slurm::queries::broken_for_masks);
}

}  // namespace
