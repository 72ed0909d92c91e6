// SPDX-License-Identifier: MIT
#include "layers/index_properties.h"

#include <gtest/gtest.h>

#include "fuzz/over_corpus.h"

namespace {

TEST(IndexProperties, HoldForEverySeedAndEveryDamagedOne) {
    fuzz::expect_unbroken("layers/corpus/index", layers::broken_for_index);
    EXPECT_TRUE(layers::staged_entries(fuzz::seed("layers/corpus/index/two-files")));
}

}  // namespace
