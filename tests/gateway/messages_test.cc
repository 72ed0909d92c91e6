// SPDX-License-Identifier: MIT
#include "network/gateway/control/messages.h"

#include <gtest/gtest.h>

#include "base/process/descriptors.h"

namespace network::gateway {
namespace {

TEST(Messages, AStartSaysHowItServes) {
    for (netns::Capture capture :
         {netns::Capture::tproxy, netns::Capture::redirect, netns::Capture::listeners}) {
        for (bool has_landlock : {false, true}) {
            std::optional<Start> read =
                decode_start(encode(Start{.capture = capture, .has_landlock = has_landlock}));
            ASSERT_TRUE(read);
            EXPECT_TRUE(read->failure.empty());
            EXPECT_EQ(read->capture, capture);
            EXPECT_EQ(read->has_landlock, has_landlock);
        }
    }
}

TEST(Messages, AFailureIsNeverTakenForAStart) {
    std::optional<Start> read = decode_start(encode(Start{.failure = "start 0 1"}));
    ASSERT_TRUE(read);
    EXPECT_EQ(read->failure, "start 0 1");
    std::string longest = encode(Start{.failure = std::string(2 * base::kLongestNote, 'f')});
    EXPECT_LE(longest.size(), base::kLongestNote);
    EXPECT_FALSE(decode_start(longest)->failure.empty());
}

TEST(Messages, WhatIsNoStartIsNone) {
    using std::string_literals::operator""s;
    for (const std::string& text : {""s, "start"s, "start\0"s,
                                    "start\0\0"
                                    "0\0"s,
                                    "start\0\0"
                                    "0\0"
                                    "2\0"s,
                                    "start\0\0"
                                    "9\0"
                                    "1\0"s,
                                    "start\0\0"
                                    "0\0"
                                    "1\0"
                                    "1\0"s,
                                    "other\0\0"
                                    "0\0"
                                    "1\0"s})
        EXPECT_FALSE(decode_start(text)) << text;
}

TEST(Messages, ASummaryCountsAndNamesTheMostFrequentFirst) {
    Journal::Refusals refusals;
    for (int i = 0; i < 20; ++i) {
        refusals.by_target["host" + std::to_string(i) + ".test:443"] = static_cast<uint64_t>(i + 1);
        refusals.total += static_cast<uint64_t>(i + 1);
    }
    std::optional<Summary> read = decode_summary(encode(summary_of(refusals, {.lines = 17, .hash = "abc"})));
    ASSERT_TRUE(read);
    EXPECT_EQ(read->refused, 210u);
    EXPECT_EQ(read->lines, 17u);
    EXPECT_EQ(read->hash, "abc");
    ASSERT_EQ(read->targets.size(), 8u);
    EXPECT_EQ(read->targets.front(), (std::pair<std::string, uint64_t>("host19.test:443", 20)));
    EXPECT_EQ(read->targets.back().second, 13u);
}

TEST(Messages, NothingRefusedIsASummaryToo) {
    std::optional<Summary> read = decode_summary(encode(Summary{}));
    ASSERT_TRUE(read);
    EXPECT_EQ(read->refused, 0u);
    EXPECT_TRUE(read->targets.empty());
}

// A name that the jail chose can't add a line of its own or make a message that can't be sent.
TEST(Messages, NamesOfTheJailStayNames) {
    std::optional<Summary> read =
        decode_summary(encode(Summary{.refused = 1, .targets = {{"a\n99 other.test", 1}}}));
    ASSERT_TRUE(read);
    ASSERT_EQ(read->targets.size(), 1u);
    EXPECT_EQ(read->targets[0].second, 1u);
    EXPECT_EQ(read->targets[0].first.find('\n'), std::string::npos);
    Summary large{.refused = 8};
    for (char letter = 'a'; letter < 'i'; ++letter) large.targets.push_back({std::string(900, letter), 1});
    EXPECT_LE(encode(large).size(), base::kLongestNote);
    std::optional<Summary> cut = decode_summary(encode(large));
    ASSERT_TRUE(cut);
    EXPECT_EQ(cut->refused, 8u);
    EXPECT_EQ(cut->targets.front().first, std::string(900, 'a'));
}

TEST(Messages, OrdersAreReadAsTheyWereWritten) {
    using std::string_literals::operator""s;
    using Kind = Order::Kind;
    for (const Order& order :
         {Order{.kind = Kind::end}, Order{.kind = Kind::files}, Order{.kind = Kind::rules, .number = 7},
          Order{.kind = Kind::state, .number = UINT64_MAX}, Order{.kind = Kind::journal},
          Order{.kind = Kind::publish, .number = 3, .reason = "8080:80"},
          Order{.kind = Kind::unpublish, .number = 4, .reason = "8080"},
          Order{.kind = Kind::deny, .number = 3, .reason = "not  this one"},
          Order{.kind = Kind::deny, .number = 3},
          Order{.kind = Kind::program, .number = 9, .reason = "curl (process 27)"}}) {
        std::optional<Order> read = decode_order(encode(order));
        ASSERT_TRUE(read) << encode(order);
        EXPECT_EQ(read->kind, order.kind);
        EXPECT_EQ(read->number, order.number);
        EXPECT_EQ(read->reason, order.reason);
    }
    std::string whole = encode(Order{.kind = Kind::deny, .number = 3, .reason = "why"});
    for (size_t size = 0; size < whole.size(); ++size)
        EXPECT_FALSE(decode_order(whole.substr(0, size))) << size;
    EXPECT_FALSE(decode_order(whole + "more"));
    EXPECT_FALSE(
        decode_order("order\0"
                     "99\0"
                     "0\0"
                     "\0"s))
        << "a kind that is not there";
    EXPECT_FALSE(
        decode_order("order\0"
                     "1\0"
                     "x\0"
                     "\0"s));
    EXPECT_LE(encode(Order{.kind = Kind::deny, .reason = std::string(9999, 'r')}).size(), base::kLongestNote);
}

TEST(Messages, QuestionsAboutProgramsAreReadAsTheyWereWritten) {
    std::optional<ProgramRequest> read =
        decode_program_request(encode(ProgramRequest{.number = 7, .port = 65535}));
    ASSERT_TRUE(read);
    EXPECT_EQ(read->number, 7u);
    EXPECT_EQ(read->port, 65535);
    EXPECT_FALSE(decode_program_request(encode(ValueRequest{.number = 7})));
}

TEST(Messages, RepliesAreReadAsTheyWereWritten) {
    std::optional<Reply> read = decode_reply(encode(Reply{.ticket = 7, .text = "12"}));
    ASSERT_TRUE(read);
    EXPECT_EQ(read->ticket, 7u);
    EXPECT_EQ(read->text, "12");
    EXPECT_EQ(read->failure, "");
    read = decode_reply(encode(Reply{.ticket = 8, .failure = "a bad entry"}));
    ASSERT_TRUE(read);
    EXPECT_EQ(read->failure, "a bad entry");
    read = decode_reply(encode(Reply{.ticket = 9}));
    ASSERT_TRUE(read);
    EXPECT_EQ(read->ticket, 9u);
    EXPECT_EQ(read->failure, "");
    std::string whole = encode(Reply{.ticket = 7, .text = "12"});
    for (size_t size = 0; size < whole.size(); ++size)
        EXPECT_FALSE(decode_reply(whole.substr(0, size))) << size;
    EXPECT_FALSE(decode_reply(encode(Summary{})));
    EXPECT_FALSE(decode_start(encode(Reply{.ticket = 9})));
}

TEST(Messages, WhatIsNoSummaryIsNone) {
    std::string whole = encode(Summary{.refused = 1, .targets = {{"a.test", 1}}});
    for (size_t size = 0; size < whole.size(); ++size)
        EXPECT_FALSE(decode_summary(whole.substr(0, size))) << size;
    EXPECT_FALSE(decode_summary("files"));
}

}  // namespace
}  // namespace network::gateway
