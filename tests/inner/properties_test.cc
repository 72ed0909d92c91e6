// SPDX-License-Identifier: MIT
#include "inner/properties.h"

#include <gtest/gtest.h>

#include "fuzz/over_corpus.h"

namespace {

TEST(InnerProperties, HoldForEverySeed) {
    fuzz::expect_unbroken("inner/corpus/orders", inner::broken_for_orders);
    fuzz::expect_unbroken("inner/corpus/reports", inner::broken_for_reports);
    fuzz::expect_unbroken("inner/corpus/requests", inner::broken_for_requests);
}

TEST(InnerProperties, SeedsAreOfThisVersion) {
    EXPECT_TRUE(inner::decode(fuzz::seed("inner/corpus/orders/full")));
    std::string stream = fuzz::seed("inner/corpus/reports/run");
    std::vector<inner::Report> reports;
    for (inner::Report report; inner::take_report(stream, report);) reports.push_back(report);
    EXPECT_EQ(stream, "");
    ASSERT_EQ(reports.size(), 4u);
    EXPECT_EQ(reports.back().kind, inner::Report::Kind::ended);
}

}  // namespace
