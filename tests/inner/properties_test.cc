// SPDX-License-Identifier: MIT
#include "inner/properties.h"

#include <gtest/gtest.h>

#include "fuzz/over_corpus.h"

namespace {

TEST(InnerProperties, HoldForEverySeed) {
    fuzz::expect_unbroken("inner/corpus/launch_spec", inner::broken_for_launch_spec);
    fuzz::expect_unbroken("inner/corpus/reports", inner::broken_for_reports);
    fuzz::expect_unbroken("inner/corpus/requests", inner::broken_for_requests);
    fuzz::expect_unbroken("inner/corpus/added", inner::broken_for_added);
}

TEST(InnerProperties, SeedsAreOfThisVersion) {
    EXPECT_TRUE(inner::decode(fuzz::seed("inner/corpus/launch_spec/full")));
    std::string stream = fuzz::seed("inner/corpus/reports/run");
    std::vector<inner::Report> reports;
    for (inner::Report report; inner::take_report(stream, report);) reports.push_back(report);
    EXPECT_EQ(stream, "");
    ASSERT_EQ(reports.size(), 4u);
    EXPECT_EQ(reports.back().kind, inner::Report::Kind::ended);
    EXPECT_TRUE(inner::decode_added(fuzz::seed("inner/corpus/added/full")));
}

}  // namespace
