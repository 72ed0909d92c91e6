// SPDX-License-Identifier: MIT
#include "audit/writer.h"

#include <gtest/gtest.h>

#include "base/encoding/json.h"

namespace {

base::Json parsed(audit::Line line) {
    std::string text = std::move(line).finish();
    EXPECT_EQ(text.back(), '\n');
    EXPECT_EQ(text.find('\n'), text.size() - 1);
    base::Result<base::Json> json = base::Json::parse(text);
    EXPECT_TRUE(json) << text;
    return json ? *json : base::Json();
}

TEST(Line, IsOneObjectOnOneLine) {
    audit::Line line("end");
    line.text("reason", "two\nlines \x1b[31m \"quoted\" \\").number("status", 3).truth("by_signal", false);
    base::Json json = parsed(std::move(line));
    EXPECT_EQ(json.number("v"), audit::kVersion);
    EXPECT_EQ(json.text("kind"), "end");
    EXPECT_EQ(json.text("reason"), "two\nlines \x1b[31m \"quoted\" \\");
    EXPECT_EQ(json.number("status"), 3);
}

TEST(Line, HasOnlyPrintableBytes) {
    std::string every;
    for (int byte = 0; byte < 256; ++byte) every += static_cast<char>(byte);
    std::string text = std::move(audit::Line("file").path("path", every)).finish();
    for (char letter : text.substr(0, text.size() - 1)) {
        EXPECT_GE(letter, 0x20);
        EXPECT_LT(letter, 0x7f);
    }
}

TEST(Line, NestsObjectsAndLists) {
    audit::Line line("start");
    std::vector<std::string> command = {"sh", "-c", "echo \"hello\""};
    line.texts("command", command).begin_object("levels").text("files", "hidden").end_object();
    line.begin_object("nothing").end_object().number("pid", 7);
    base::Json json = parsed(std::move(line));
    ASSERT_EQ(json.items("command").size(), 3U);
    EXPECT_EQ(*json.items("command")[2].as_text(), "echo \"hello\"");
    ASSERT_NE(json.find("levels"), nullptr);
    EXPECT_EQ(json.find("levels")->text("files"), "hidden");
    EXPECT_EQ(json.number("pid"), 7);
}

TEST(Line, CutsWhatIsLong) {
    base::Json json = parsed(std::move(audit::Line("mail").text("name", std::string(10'000, 'a'))));
    EXPECT_EQ(json.text("name").size(), audit::kLongestText + 3);
    std::vector<std::string> many(1000, "x");
    EXPECT_EQ(parsed(std::move(audit::Line("command").texts("command", many))).items("command").size(),
              audit::kMostTexts + 1);
}

}  // namespace
