// SPDX-License-Identifier: MIT
#include "gateway/message_properties.h"

#include <gtest/gtest.h>

#include "fuzz/over_corpus.h"

namespace {

TEST(MessageProperties, HoldForEverySeed) {
    fuzz::expect_unbroken("gateway/corpus/messages", network::gateway::broken_for_messages);
    fuzz::expect_unbroken("gateway/corpus/note", network::gateway::broken_for_note);
}

TEST(MessageProperties, SeedsAreOfThisVersion) {
    using namespace network::gateway;
    EXPECT_TRUE(decode_start(fuzz::seed("gateway/corpus/messages/serves")));
    EXPECT_TRUE(decode_order(fuzz::seed("gateway/corpus/messages/deny")));
    EXPECT_TRUE(decode_reply(fuzz::seed("gateway/corpus/messages/reply")));
    EXPECT_TRUE(decode_summary(fuzz::seed("gateway/corpus/messages/refused")));
}

}  // namespace
