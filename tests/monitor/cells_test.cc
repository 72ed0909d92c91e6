// SPDX-License-Identifier: MIT
#include "monitor/cells.h"

#include <gtest/gtest.h>

namespace monitor {
namespace {

using std::chrono::milliseconds;

TEST(Cells, WideLettersTakeTwoAndMarksNone) {
    EXPECT_EQ(cells_of("abc"), 3u);
    EXPECT_EQ(cells_of("漢字"), 4u);
    EXPECT_EQ(cells_of("e\u0301"), 1u);
    EXPECT_EQ(cells_of("…"), 1u);
}

TEST(Cells, ATextIsCutToItsWidth) {
    EXPECT_EQ(cut("short", 10), "short");
    EXPECT_EQ(cut("exactly", 7), "exactly");
    EXPECT_EQ(cut("too long a text", 8), "too lon…");
    EXPECT_EQ(cut("漢字漢字", 6), "漢字…");
    EXPECT_EQ(cut("漢字漢字", 5), "漢字…");
    EXPECT_EQ(cut("text", 0), "");
    EXPECT_EQ(cut(std::string(1 << 20, 'x'), 3), "xx…");
}

TEST(Cells, NothingThatDrivesATerminalComesOut) {
    std::string shown = cut("a\x1b[2Jb\nc\x9b", 80);
    EXPECT_EQ(shown.find('\x1b'), std::string::npos);
    EXPECT_EQ(shown.find('\n'), std::string::npos);
    EXPECT_EQ(padded("a\tb", 12).find('\t'), std::string::npos);
}

TEST(Cells, PaddingFillsToTheWidth) {
    EXPECT_EQ(padded("ab", 4), "ab  ");
    EXPECT_EQ(padded_left("ab", 4), "  ab");
    EXPECT_EQ(padded("漢", 4), "漢  ");
    EXPECT_EQ(padded("abcdef", 4), "abc…");
}

TEST(Cells, AmountsAreShort) {
    EXPECT_EQ(bytes_text(0), "0");
    EXPECT_EQ(bytes_text(-5), "0");
    EXPECT_EQ(bytes_text(999), "999");
    EXPECT_EQ(bytes_text(1024), "1.0K");
    EXPECT_EQ(bytes_text(10 * 1024), "10K");
    EXPECT_EQ(bytes_text(1536 * 1024), "1.5M");
    EXPECT_EQ(bytes_text(INT64_MAX), "8.0E");
    for (int64_t bytes = 1; bytes > 0 && bytes < INT64_MAX / 3; bytes *= 3)
        EXPECT_LE(bytes_text(bytes).size(), 4u);
}

TEST(Cells, AgesAreShort) {
    EXPECT_EQ(age_text(milliseconds(-1)), "0s");
    EXPECT_EQ(age_text(milliseconds(59'999)), "59s");
    EXPECT_EQ(age_text(milliseconds(60'000)), "1m");
    EXPECT_EQ(age_text(milliseconds(3'600'000 + 5 * 60'000)), "1h05m");
    EXPECT_EQ(age_text(milliseconds(int64_t{86'400'000} * 12)), "12d");
}

TEST(Cells, ATimeThatIsNoneHasNoAge) {
    for (const char* text :
         {"", "now", "2024-13-01T00:00:00Z", "2024-02-3xT00:00:00Z", "9999-01-01T00:00:00Z"})
        EXPECT_EQ(age_of(text).count(), 0) << text;
    EXPECT_GT(age_of("2024-02-29T23:59:59.123Z").count(), 0);
    EXPECT_EQ(clock_text("2024-02-29T23:59:58.123Z"), "23:59:58");
    EXPECT_EQ(clock_text("nonsense"), "        ");
    EXPECT_EQ(clock_text("2024-02-29T23\x1b[2J:58Z  "), "        ");
}

TEST(Cells, ABarIsAsFullAsItsLimit) {
    EXPECT_EQ(bar(0, 10, 12), "[----------]");
    EXPECT_EQ(bar(5, 10, 12), "[#####-----]");
    EXPECT_EQ(bar(99, 10, 12), "[##########]");
    EXPECT_EQ(bar(5, 0, 12), "[----------]");
    EXPECT_EQ(bar(-5, 10, 12), "[----------]");
    EXPECT_EQ(bar(5, 10, 2), "");
}

}  // namespace
}  // namespace monitor
