// SPDX-License-Identifier: MIT
#include "selftest/properties.h"

#include <gtest/gtest.h>

#include "fuzz/over_corpus.h"

namespace {

TEST(ReportProperties, HoldForEverySeed) {
    fuzz::expect_unbroken("selftest/corpus/report", selftest::broken_for_report);
}

}  // namespace
