// SPDX-License-Identifier: MIT
#include "inner/messages.h"

#include <gtest/gtest.h>

#include <csignal>
#include <optional>
#include <string>

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

TEST(Messages, ARequestAboutAnAddedCommandHasItsSlot) {
    for (int slot : {0, 1, int{'0'}, int{'1'}, inner::kMostAdded - 1}) {
        for (const SignalRequest& sent :
             {SignalRequest{.slot = slot, .starts = true}, SignalRequest{.signal = SIGINT, .slot = slot},
              SignalRequest{.signal = SIGINT, .to_group = true, .slot = slot}}) {
            std::string buffer = inner::encode(sent);
            EXPECT_EQ(buffer.size(), inner::kSignalRequestSize);
            SignalRequest received;
            ASSERT_TRUE(inner::take_signal_request(buffer, received));
            EXPECT_EQ(received, sent);
        }
    }
}

TEST(Messages, AnAddedCommandSurvivesTheWay) {
    inner::AddedRequest sent{.command = {"sh", "", "a b\xff"},
                             .environment = {"TERM=xterm", "EMPTY="},
                             .directory = "src",
                             .has_terminal = true,
                             .ignored_signals = ~uint64_t{0}};
    std::optional<inner::AddedRequest> received = inner::decode_added(inner::encode(sent));
    ASSERT_TRUE(received);
    EXPECT_EQ(*received, sent);
}

TEST(Messages, AnAddedCommandIsBoundedAndComplete) {
    EXPECT_FALSE(inner::decode_added(""));
    EXPECT_FALSE(inner::decode_added(inner::encode(inner::AddedRequest{})));
    std::string text = inner::encode(inner::AddedRequest{.command = {"true"}});
    EXPECT_TRUE(inner::decode_added(text));
    for (size_t length = 0; length < text.size(); ++length)
        EXPECT_FALSE(inner::decode_added(std::string_view(text).substr(0, length))) << length;
    EXPECT_FALSE(inner::decode_added(text + '\0'));
    const size_t most = inner::kLargestAddedWords;
    EXPECT_TRUE(
        inner::decode_added(inner::encode(inner::AddedRequest{.command = {std::string(most - 1, 'x')}})));
    EXPECT_FALSE(
        inner::decode_added(inner::encode(inner::AddedRequest{.command = {std::string(most, 'x')}})));
    EXPECT_FALSE(inner::decode_added(
        inner::encode(inner::AddedRequest{.command = {"a"}, .environment = {std::string(most, 'x')}})));
}

}  // namespace
