// SPDX-License-Identifier: MIT
#include "network/http2/frame_budget.h"

#include <gtest/gtest.h>

#include "frames.h"

namespace network::http2 {
namespace {

// How many of these frames are accepted at once.
int accepted(const std::string& bytes, int most = 20000) {
    FrameBudget budget(0);
    int count = 0;
    while (count < most && budget.take(bytes)) ++count;
    return count;
}

TEST(FrameBudget, EndsFloods) {
    EXPECT_EQ(accepted(frame(kResetStream, 0, 1, "code")), FrameBudget::kMost / FrameBudget::kReset);
    EXPECT_EQ(accepted(frame(kPing, 0, 0, "12345678")), FrameBudget::kMost / FrameBudget::kPing);
    const int others = FrameBudget::kMost / FrameBudget::kOther;
    EXPECT_EQ(accepted(frame(kSettings, 0, 0, "")), others);
    EXPECT_EQ(accepted(frame(kPriority, 0, 1, "12345")), others);
    EXPECT_EQ(accepted(frame(kData, 0, 1, "")), others);
    EXPECT_EQ(accepted(frame(0x55, 0, 1, "unknown")), others);
    // Control: data and window updates.
    EXPECT_EQ(accepted(frame(kData, 0, 1, "a")), 20000);
    EXPECT_EQ(accepted(frame(kData, kEnd, 1, "")), 20000);
    EXPECT_EQ(accepted(frame(kWindow, 0, 1, "1234")), 20000);
}

TEST(FrameBudget, EndsAHeaderBlockInManyFrames) {
    EXPECT_EQ(accepted(frame(kMore, 0, 1, "a")), FrameBudget::kMostContinuations);
    EXPECT_EQ(accepted(frame(kHeaders, 0, 1, "a") + frame(kMore, kEndHeaders, 1, "a"), 3000), 3000);
}

TEST(FrameBudget, ReadsFramesInAnyPieces) {
    std::string bytes = kPreface + frame(kData, 0, 1, "12345");
    for (int i = 0; i < 9; ++i) bytes += frame(kMore, 0, 1, "abc");
    for (size_t piece : {1u, 7u, 1000u}) {
        FrameBudget budget(FrameBudget::kPreface);
        size_t at = 0;
        while (at < bytes.size() && budget.take(std::string_view(bytes).substr(at, piece))) at += piece;
        EXPECT_LT(at, bytes.size()) << piece;
        EXPECT_EQ(budget.fault(), "a header block has too many frames");
    }
}

TEST(FrameBudget, IsFilledWithTimeAndWithData) {
    FrameBudget budget(0);
    const std::string ping = frame(kPing, 0, 0, "12345678");
    for (int i = 0; i < FrameBudget::kMost; ++i) ASSERT_TRUE(budget.take(ping));
    budget.refill();
    for (int i = 0; i < FrameBudget::kEachSecond; ++i) ASSERT_TRUE(budget.take(ping));
    budget.note_data();
    EXPECT_TRUE(budget.take(ping));
    EXPECT_FALSE(budget.take(ping));
    EXPECT_FALSE(budget.take("a"));
}

}  // namespace
}  // namespace network::http2
