// SPDX-License-Identifier: MIT
#include "credentials/login_file.h"

#include <gtest/gtest.h>

#include "credentials/json_place.h"

namespace credentials {
namespace {

using Keys = std::vector<std::string>;

std::string changed(std::string_view text, const Keys& keys, std::string_view value) {
    return with_json_value(text, keys, value).value_or("nothing");
}

TEST(JsonPlace, ChangesOneValueAndNothingElse) {
    constexpr std::string_view kText =
        R"({ "a" : {"b": "old\"}", "n": 1.50e3}, "c": [1, {"b": "x"}], "b" :null})";
    EXPECT_EQ(changed(kText, {"a", "b"}, "\"new\""),
              R"({ "a" : {"b": "new", "n": 1.50e3}, "c": [1, {"b": "x"}], "b" :null})");
    EXPECT_EQ(changed(kText, {"b"}, "2"),
              R"({ "a" : {"b": "old\"}", "n": 1.50e3}, "c": [1, {"b": "x"}], "b" :2})");
    EXPECT_EQ(changed(kText, {"c"}, "[]"), R"({ "a" : {"b": "old\"}", "n": 1.50e3}, "c": [], "b" :null})");
    EXPECT_EQ(find_in_json(kText, Keys{"a", "b"})->text, "old\"}");
    EXPECT_EQ(find_in_json(kText, Keys{"a", "x"}), std::nullopt);
    EXPECT_EQ(find_in_json(R"({"\u0061": "x"})", Keys{"a"})->text, "x") << "a key with an escape";
    EXPECT_EQ(find_in_json(R"({"a": 1, "a": "last"})", Keys{"a"})->text, "last");
}

TEST(JsonPlace, AddsWhatIsMissing) {
    EXPECT_EQ(changed("{}", {"a"}, "1"), R"({"a": 1})");
    EXPECT_EQ(changed("", {"a", "b", "c"}, "1"), R"({"a": {"b": {"c": 1}}})");
    EXPECT_EQ(changed(R"({"x": 1})", {"a", "b"}, "2"), R"({"a": {"b": 2}, "x": 1})");
    EXPECT_EQ(changed(R"({"a": { }, "x": 1})", {"a", "b"}, "2"), R"({"a": {"b": 2 }, "x": 1})");
    for (const char* text : {"[]", "{", "\"a\"", R"({"a": 1} x)", R"({"a": [1]})"}) {
        EXPECT_EQ(changed(text, {"a", "b"}, "1"), "nothing") << text;
    }
}

base::SecretValue secret(std::string text) {
    return *base::SecretValue::make(std::move(text));
}

std::string with_tokens(std::string content, const std::vector<std::string>& stores, const std::string& token,
                        Issue issue = {.expires_in = 60, .scope = "a b", .now = 1'000'000'000'123}) {
    FileField field = *parse_file_field("login.token");
    std::vector<StoredField> parsed;
    for (const std::string& text : stores) parsed.push_back(*parse_stored_field(text));
    base::SecretValue value = secret(token);
    const NewValue values[] = {{&field, parsed, &value}};
    return with_new_values(std::move(content), values, issue).value_or("nothing");
}

TEST(LoginFile, GetsTheTokenAndWhatDependsOnIt) {
    EXPECT_EQ(
        with_tokens(R"({"login": {"token": "old", "end": 1, "kept": 1.5}, "other": true})",
                    {"login.end = milliseconds", "login.scopes = words", "scope = scope", "when = time"},
                    "new-token"),
        R"({"when": "2001-09-09T01:46:40.123Z", "scope": "a b", "login": {"scopes": ["a","b"], )"
        R"("token": "new-token", "end": 1000000060123, "kept": 1.5}, "other": true})");
    EXPECT_EQ(with_tokens(R"({"login": {"token": "old", "end": 1}})",
                          {"login.end = milliseconds", "scope = scope"}, "new-token", {}),
              R"({"login": {"token": "new-token", "end": 1}})")
        << "what the answer does not tell stays";
    EXPECT_EQ(with_tokens("not JSON", {}, "new-token"), "nothing");
}

TEST(LoginFile, ThatIsNewGetsTextsAndClaims) {
    // {"a":{"b.c":"account"}}
    const std::string token = "eyJh.eyJhIjp7ImIuYyI6ImFjY291bnQifX0.signature";
    EXPECT_EQ(with_tokens("", {"login.account = claim a.\"b.c\"", "login.type = text oauth"}, token),
              R"({"login": {"type": "oauth", "account": "account", "token": ")" + token + R"("}})");
    EXPECT_EQ(with_tokens(R"({"login": {"type": "other", "token": ""}})", {"login.type = text oauth"}, token),
              R"({"login": {"type": "other", "token": ")" + token + R"("}})")
        << "a text does not replace another one";
    EXPECT_EQ(with_tokens("", {"login.account = claim a"}, "not-a-token"),
              R"({"login": {"token": "not-a-token"}})");
}

TEST(StoredField, NamesAFieldAndAKind) {
    for (const char* text :
         {"", "a", "a = ", "a = unknown", "a = milliseconds 5", "a = text", "= time", "a = claim"})
        EXPECT_FALSE(parse_stored_field(text).ok()) << text;
}

TEST(OwnFile, IsWhereTheVariableLeads) {
    const std::vector<std::string> none = {"HOME=/home/ann"};
    EXPECT_EQ(own_file("~/.claude/.credentials.json", "/home/ann", none),
              "/home/ann/.claude/.credentials.json");
    const std::vector<std::string> moved = {"CLAUDE_CONFIG_DIR=/home/ann/work", "CODEX_HOME=relative"};
    EXPECT_EQ(own_file("~/.claude/.credentials.json", "/home/ann", moved),
              "/home/ann/work/.credentials.json");
    EXPECT_EQ(own_file("~/.codex/auth.json", "/home/ann", moved), "/home/ann/.codex/auth.json");
}

}  // namespace
}  // namespace credentials
