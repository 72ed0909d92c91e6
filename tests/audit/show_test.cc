// SPDX-License-Identifier: MIT
#include "audit/show.h"

#include <gtest/gtest.h>

namespace {

std::string shown(std::string_view line, bool is_coloured = false) {
    base::Result<base::Json> json = base::Json::parse(line);
    EXPECT_TRUE(json) << line;
    return audit::to_line({.json = *json, .text = std::string(line), .file = "f", .number = 1}, is_coloured);
}

TEST(Show, OneLineSaysWhenWhatAndWhy) {
    EXPECT_EQ(shown(R"({"v":1,"time":"2024-02-29T12:34:56.789Z","kind":"connection","verdict":"deny",)"
                    R"("protocol":"tls","name":"a.example","port":443,"rule":"a.example","reason":"closed",)"
                    R"("origin":"/x/config.toml:3"})"),
              "12:34:56  connection  deny      a.example:443 tls: closed (a.example), /x/config.toml:3");
    EXPECT_EQ(shown(R"({"v":1,"time":"2024-02-29T12:34:56.789Z","kind":"end","status":3,"duration_ms":12})"),
              "12:34:56  end                   status 3, after 12 ms");
    EXPECT_EQ(shown(R"({"v":1,"time":"2024-02-29T12:34:56.789Z","kind":"start","command":["sh","a b"],)"
                    R"("directory":"/p","backend":"native","network":"filtered"})"),
              "12:34:56  start                 sh 'a b' in /p; native, network filtered");
}

TEST(Show, AKindThatIsNotKnownStillHasItsReason) {
    EXPECT_EQ(shown(R"({"v":1,"time":"x","kind":"journal","reason":"a part was dropped"})"),
              "x  journal               a part was dropped");
}

TEST(Show, ALayerIsShownWithItsUserAndItsFiles) {
    EXPECT_NE(
        shown(R"({"v":1,"time":"2024-02-29T12:00:30.000Z","kind":"layer","action":"apply","layer":"4f2a",)"
              R"("user":"me","count":2,"held":[".vscode/tasks.json"]})")
            .find("apply 4f2a: 2 changes, by me, held back: .vscode/tasks.json"),
        std::string::npos);
    EXPECT_NE(shown(R"({"v":1,"time":"2024-02-29T12:00:30.000Z","kind":"layer","action":"write",)"
                    R"("path":"a b","sha256":"9c1e"})")
                  .find("write a b, 9c1e"),
              std::string::npos);
}

TEST(Show, WhatWasRecordedDrivesNoTerminal) {
    std::string line = shown(
        R"({"v":1,"time":"\u001b[2J","kind":"\u0007x","verdict":"\u009b1m","reason":"\u00e2\u0080\u00ae"})");
    for (char letter : line) {
        EXPECT_GE(letter, 0x20) << line;
        EXPECT_LT(letter, 0x7f) << line;
    }
}

}  // namespace
