// SPDX-License-Identifier: MIT
#include "mcp/framing.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace mcp {
namespace {

std::vector<std::string> lines_of(Framing& framing, std::string_view bytes) {
    std::vector<std::string> lines;
    framing.add(bytes, [&](Framing::Line line) {
        lines.push_back(line.is_too_long ? "too long" : std::string(line.text));
    });
    return lines;
}

using Lines = std::vector<std::string>;

TEST(Framing, CutsAtLineBreaksHoweverTheBytesArrive) {
    const std::string text = "one\r\ntwo\n\nthree\n";
    Framing whole;
    EXPECT_EQ(lines_of(whole, text), (Lines{"one", "two", "three"}));
    Framing single;
    Lines lines;
    for (char letter : text)
        for (const std::string& line : lines_of(single, {&letter, 1})) lines.push_back(line);
    EXPECT_EQ(lines, (Lines{"one", "two", "three"}));
}

TEST(Framing, KeepsHalfALineAndNoMore) {
    Framing framing;
    EXPECT_EQ(lines_of(framing, "half"), Lines{});
    EXPECT_EQ(framing.pending(), 4U);
    EXPECT_EQ(lines_of(framing, " a line\nx"), Lines{"half a line"});
    EXPECT_EQ(framing.pending(), 1U);
}

TEST(Framing, DropsALineAboveTheBoundAndGoesOn) {
    Framing framing(5);
    EXPECT_EQ(lines_of(framing, "12345\n123456\nok\n"), (Lines{"12345", "too long", "ok"}));
    for (int i = 0; i < 1000; ++i) EXPECT_EQ(lines_of(framing, "123456789"), Lines{});
    EXPECT_EQ(framing.pending(), 0U);
    EXPECT_EQ(lines_of(framing, "rest\nok\n"), (Lines{"too long", "ok"}));
    EXPECT_EQ(lines_of(framing, "123"), Lines{});
    EXPECT_EQ(lines_of(framing, "456\nok\n"), (Lines{"too long", "ok"}));
}

TEST(Framing, CountsTheDepthOutsideOfTexts) {
    EXPECT_EQ(depth_of(""), 0U);
    EXPECT_EQ(depth_of(R"({"a":[1,{"b":2}]})"), 3U);
    EXPECT_EQ(depth_of(R"(["[[[[\"[[["])"), 1U);
    EXPECT_EQ(depth_of("]]]["), 1U);
    EXPECT_EQ(depth_of(R"(["\\"[])"), 2U);
}

}  // namespace
}  // namespace mcp
