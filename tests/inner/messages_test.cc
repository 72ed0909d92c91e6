// SPDX-License-Identifier: MIT
#include "inner/messages.h"

#include <gtest/gtest.h>

#include <csignal>

namespace {

using inner::Report;
using inner::SignalRequest;

TEST(Messages, AReportSurvivesTheWay) {
    Report sent{.kind = Report::Kind::failed, .number = 13, .step = "execute", .object = "/bin/a b"};
    std::string buffer = inner::encode(sent);
    Report received;
    ASSERT_TRUE(inner::take_report(buffer, received));
    EXPECT_EQ(received, sent);
    EXPECT_TRUE(buffer.empty());
}

TEST(Messages, ReportsAreTakenOneByOneFromAStream) {
    Report ended{.kind = Report::Kind::ended, .number = 9, .by_signal = true};
    std::string stream = inner::encode(Report{.kind = Report::Kind::started}) + inner::encode(ended);
    std::string buffer;
    std::vector<Report> taken;
    for (char byte : stream) {
        buffer += byte;
        for (Report report; inner::take_report(buffer, report);) taken.push_back(report);
    }
    ASSERT_EQ(taken.size(), 2u);
    EXPECT_EQ(taken[0].kind, Report::Kind::started);
    EXPECT_EQ(taken[1], ended);
}

TEST(Messages, ARequestSurvivesTheWay) {
    SignalRequest first{.signal = SIGCONT, .to_group = true, .takes_terminal = true};
    SignalRequest second{.signal = SIGTERM};
    std::string buffer = inner::encode(first) + inner::encode(second);
    SignalRequest received;
    ASSERT_TRUE(inner::take_signal_request(buffer, received));
    EXPECT_EQ(received, first);
    ASSERT_TRUE(inner::take_signal_request(buffer, received));
    EXPECT_EQ(received, second);
    EXPECT_FALSE(inner::take_signal_request(buffer, received));
}

}  // namespace
