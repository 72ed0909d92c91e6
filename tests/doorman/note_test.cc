// SPDX-License-Identifier: MIT
#include "doorman/handoff/connect_handoff.h"

#include <gtest/gtest.h>

#include "doorman/doorman.h"

namespace doorman {
namespace {

TEST(HandoffMessage, IsReadAsItWasWritten) {
    for (const char* text : {"tcp 192.0.2.1 443", "tcp 2001:db8::1 1", "tcp ::1 65535", "tcp 0.0.0.0 0"}) {
        std::optional<Destination> destination = decode(text);
        ASSERT_TRUE(destination) << text;
        EXPECT_EQ(encode(*destination), text);
    }
}

TEST(HandoffMessage, RefusesAnythingElse) {
    for (const char* text : {"", "tcp", "tcp  1", "udp 192.0.2.1 1", "tcp 192.0.2 1", "tcp 192.0.2.1 65536",
                             "tcp 192.0.2.1 -1", "tcp 192.0.2.1 1x", "tcp 192.0.2.1 1 ", "tcp ::g 1"}) {
        EXPECT_FALSE(decode(text)) << text;
    }
}

TEST(Doorman, IsPossibleHere) {
    EXPECT_TRUE(is_possible());
}

}  // namespace
}  // namespace doorman
