// SPDX-License-Identifier: MIT
#include "gateway/message_properties.h"

#include <gtest/gtest.h>

#include "fuzz/over_corpus.h"

namespace {

TEST(MessageProperties, HoldForEverySeed) {
    fuzz::expect_unbroken("gateway/corpus/messages", network::gateway::broken_for_messages);
    fuzz::expect_unbroken("gateway/corpus/note", network::gateway::broken_for_note);
}

}  // namespace
