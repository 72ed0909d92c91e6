// SPDX-License-Identifier: MIT
#include "base/table.h"

#include <gtest/gtest.h>

namespace {

TEST(Style, WritesNoEscapeWithoutColour) {
    EXPECT_EQ(base::styled("x", base::Style::red, false), "x");
}

TEST(Style, EndsWhatItBegins) {
    EXPECT_EQ(base::styled("x", base::Style::red, true), "\x1b[31mx\x1b[0m");
    EXPECT_EQ(base::styled("x", base::Style::plain, true), "x");
    EXPECT_EQ(base::styled("", base::Style::bold, true), "");
}

TEST(Style, WidthCountsCharactersNotBytes) {
    EXPECT_EQ(base::display_width("abc"), 3u);
    EXPECT_EQ(base::display_width("é·…"), 3u);
}

}  // namespace
