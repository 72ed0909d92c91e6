// SPDX-License-Identifier: MIT
#include "base/encoding/json.h"

#include <gtest/gtest.h>

namespace base {
namespace {

TEST(Json, KeepsTheOrderOfMembers) {
    Json json = Json::object();
    json.set("zebra", 1).set("apple", true).set("list", Json::array().push("x").push(Json()));
    EXPECT_EQ(json.dump(-1), R"({"zebra":1,"apple":true,"list":["x",null]})");
    EXPECT_EQ(Json::parse(json.dump())->dump(-1), json.dump(-1));
}

TEST(Json, SettingAMemberAgainReplacesItInPlace) {
    Json json = Json::object();
    json.set("a", 1).set("b", 2).set("a", 3);
    EXPECT_EQ(json.dump(-1), R"({"a":3,"b":2})");
}

TEST(Json, EmptyContainersStayWhatTheyAre) {
    EXPECT_EQ(Json::array().dump(-1), "[]");
    EXPECT_EQ(Json::object().dump(-1), "{}");
    EXPECT_EQ(Json().dump(-1), "null");
}

TEST(Json, ReadsWithADefaultForWhatIsAbsentOrOfAnotherType) {
    Json json = *Json::parse(R"({"text": "x", "number": -5, "truth": true, "list": [1, 2]})");
    EXPECT_EQ(json.text("text"), "x");
    EXPECT_EQ(json.text("number", "otherwise"), "otherwise");
    EXPECT_EQ(json.number("number"), -5);
    EXPECT_EQ(json.number("absent", 7), 7);
    EXPECT_TRUE(json.truth("truth"));
    EXPECT_TRUE(json.truth("text", true));
    EXPECT_EQ(json.items("list").size(), 2u);
    EXPECT_TRUE(json.items("text").empty());
    EXPECT_EQ(json.find("absent"), nullptr);
    EXPECT_TRUE(Json("text").members().empty());
}

TEST(Json, LargeIntegersSurviveAndOtherNumbersReadAsNull) {
    EXPECT_EQ(Json::parse("9223372036854775807")->dump(-1), "9223372036854775807");
    EXPECT_TRUE(Json::parse("9223372036854775808")->is_null());
    EXPECT_TRUE(Json::parse("1e300")->is_null());
    EXPECT_TRUE(Json::parse("1.5")->is_null());
}

TEST(Json, RefusesWhatIsNotJson) {
    for (const char* text : {"", "{", "[1,]", "{\"a\" 1}", "nul", "\"\xff\"", "{} x"}) {
        Result<Json> json = Json::parse(text);
        ASSERT_FALSE(json) << text;
        EXPECT_TRUE(json.error().what.starts_with("not valid JSON")) << text;
    }
}

TEST(Json, RefusesNestingThatWouldExhaustTheStack) {
    std::string deep(100'000, '[');
    deep.append(100'000, ']');
    EXPECT_FALSE(Json::parse(deep));
    EXPECT_TRUE(Json::parse(std::string(100, '[') + std::string(100, ']')));
}

TEST(Json, BytesThatAreNotUtf8AreReplacedInTheOutput) {
    EXPECT_EQ(Json("a\xff").dump(-1), "\"a\xef\xbf\xbd\"");
    EXPECT_EQ(Json("\x1b\n").dump(-1), "\"\\u001b\\n\"");
}

}  // namespace
}  // namespace base
