// SPDX-License-Identifier: MIT
#include "monitor/properties.h"

#include <gtest/gtest.h>

#include "fuzz/over_corpus.h"

namespace {

TEST(CellProperties, HoldForEverySeed) {
    fuzz::expect_unbroken("monitor/corpus/cells", monitor::broken_for_cells);
}

}  // namespace
