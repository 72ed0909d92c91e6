// SPDX-License-Identifier: MIT
#include "network/requests/graphql.h"

#include <gtest/gtest.h>

#include "base/encoding/json.h"
#include "network/requests/rules.h"

namespace network::requests {
namespace {

std::string joined(std::string_view fault, const std::vector<RootField>& fields) {
    if (!fault.empty()) return "fault: " + std::string(fault);
    std::string text;
    for (const RootField& field : fields)
        text += std::string(to_text(field.operation)) + " " + field.name + ";";
    return text;
}
std::string document(std::string_view text) {
    std::vector<RootField> fields;
    std::string_view fault = read_graphql_document(text, fields);
    return joined(fault, fields);
}
std::string body(std::string_view text) {
    std::vector<RootField> fields;
    std::string_view fault = read_graphql(text, fields);
    return joined(fault, fields);
}

TEST(Graphql, GivesRootFieldsAlone) {
    EXPECT_EQ(document("{ viewer { login } }"), "query viewer;");
    EXPECT_EQ(document("query { viewer { login } rateLimit { cost } }"), "query viewer;query rateLimit;");
    EXPECT_EQ(
        document(
            "mutation M($i: In! = {a: [1, 2]}) @d(x: \"}\") { addStar(input: $i) { clientMutationId } }"),
        "mutation addStar;");
    EXPECT_EQ(document("subscription { changed }"), "subscription changed;");
    EXPECT_EQ(document("query readOnly { x: deleteRepository(id: \"1\") }"), "query deleteRepository;")
        << "neither an alias nor the operation's name counts";
    EXPECT_EQ(document("{ a a b: a }"), "query a;") << "each once";
    EXPECT_EQ(document("\xef\xbb\xbf# comment }\n{ a, # b\n c }"), "query a;query c;");
    EXPECT_EQ(document("{ a(x: \"\\\"}\", y: \"\"\"a \\\"\"\" } \"\"\") b }"), "query a;query b;");
    EXPECT_EQ(document("{ a(x: -1.5e+3, y: $v, z: {k: ENUM}) }"), "query a;");
}

TEST(Graphql, CountsEveryOperationOfTheDocument) {
    EXPECT_EQ(document("query A { a } mutation B { b }"), "query a;mutation b;");
}

TEST(Graphql, ResolvesFragmentsAtTheRoot) {
    EXPECT_EQ(document("mutation { ...F } fragment F on Mutation { deleteIssue(input: {}) { id } }"),
              "mutation deleteIssue;");
    EXPECT_EQ(document("{ ...F ...G } fragment F on Query { a ...G } fragment G on Query { b }"),
              "query a;query b;");
    EXPECT_EQ(document("mutation { ... on Mutation { x } ... @include(if: true) { y } ... { z } }"),
              "mutation x;mutation y;mutation z;");
    EXPECT_EQ(document("{ a { ...Unknown } }"), "query a;") << "below the root it does not matter";
}

TEST(Graphql, RefusesWhatItCanNotResolve) {
    for (std::string_view text : {"",
                                  "{}",
                                  "{",
                                  "{ a",
                                  "{ a }}",
                                  "{ a } x",
                                  "query",
                                  "query {",
                                  "{ ...F }",
                                  "{ ...F } fragment F on Q { ...F }",
                                  "{ ...F } fragment F on Q { ...G } fragment G on Q { ...F }",
                                  "{ ...F } fragment F on Q { a } fragment F on Q { b }",
                                  "fragment F on Q { a }",
                                  "fragment on on Q { a }",
                                  "type Q { a: Int }",
                                  "schema { query: Q }",
                                  "extend type Q { a: Int }",
                                  "{ a(x: [) }",
                                  "{ a(x: ]) }",
                                  "{ \"a\" }",
                                  "{ a: }",
                                  "{ a( }",
                                  "{ a(\"x }",
                                  "{ a(\"\"\"x }",
                                  "{ a ? }",
                                  "{ ... on }",
                                  "{ @d }",
                                  "{ 1a }",
                                  "{ a\xc3\xa9 }",
                                  "query A B { a }",
                                  "{ a } fragment F { b }"})
        EXPECT_TRUE(document(text).starts_with("fault: ")) << text << " gives " << document(text);
}

// Threat: the reader takes a field for a part of a comment or a text, and the server runs it.
TEST(Graphql, ReadsIgnoredTokensAsEveryServerDoes) {
    EXPECT_EQ(document("{ a # b }\r\n c # d\n }"), "query a;query c;") << "the control";
    EXPECT_EQ(document("{,a,,b,}# c"), "query a;query b;");
    EXPECT_EQ(document("\xef\xbb\xbf{ a \xef\xbb\xbf b }"), "query a;query b;");
    for (std::string_view text : {
             std::string_view("mutation { a # \xe2\x80\xa8 b\n }"),            // graphql-java
             std::string_view("mutation { a # \xe2\x80\xa9 b\n }"),            //
             std::string_view("mutation { a(x: \"\xe2\x80\xa8) b #\") }"),     //
             std::string_view("mutation { a # \r (x: \n b # \r ) \n }"),       // ended by a line feed alone
             std::string_view("mutation { a # \x01 b\n }"),                    // ended by a control
             std::string_view("mutation { a # \0 b\n }", 21),                  // ended by NUL
             std::string_view("mutation { a(x: \"\\q) b #\") }"),              // the lexer skips an error
             std::string_view("mutation { a(x: \"\\u{41}) b #\") }"),          //
             std::string_view("mutation { a(x: \"\\u004) b #\") }"),           //
             std::string_view("mutation { a(x: \"\"\"b\"\"\"\" ) b #\" ) }"),  // ended by four quotes
             std::string_view("mutation { a(x: \"\"\"b\"\"\"\"\"\" ) b #\" ) }"),  // graphql-ruby
             std::string_view("mutation { a(x: \"\"\"\\\"\"\"\" ) b #\"\"\" ) }"),
         })
        EXPECT_TRUE(document(text).starts_with("fault: ")) << text << " gives " << document(text);
}

TEST(Graphql, ReadsBlockStringsAsOldAndNewServersDo) {
    EXPECT_EQ(document(R"({ a(x: """""", y: """b""", z: """ "c" ' ] \""" ) { d """) e })"),
              "query a;query e;");
    EXPECT_EQ(document("{ a(x: \"\"\"b\n  c ] } \\q\n\"\"\") e }"), "query a;query e;");
    EXPECT_EQ(document(R"(mutation { a(x: [""" " ] ) b(y: [ " """]) })"), "mutation a;mutation b;")
        << "three texts for a server without block strings";
    EXPECT_EQ(document("mutation { a(x: [\"\"\" \n \" ] ) b(y: [ \" \"\"\"]) }"), "mutation a;mutation b;");
}

TEST(Graphql, IsBoundedInDepthAndSize) {
    auto nested = [](int depth, const std::string& open, const std::string& close) {
        std::string text = "{ a(x: ";
        for (int i = 0; i < depth; ++i) text += open;
        for (int i = 0; i < depth; ++i) text += close;
        return text + ") }";
    };
    EXPECT_EQ(document(nested(31, "[", "]")), "query a;");
    EXPECT_TRUE(document(nested(32, "[", "]")).starts_with("fault"));
    std::string inlines = "{ ", ends;
    for (int i = 0; i < 40; ++i) inlines += "... { ", ends += " }";
    EXPECT_TRUE(document(inlines + "a" + ends + " }").starts_with("fault"));
    EXPECT_TRUE(document("{ " + std::string(kMaximumGraphql, ' ') + "a }").starts_with("fault"));
    std::string many = "{ ";
    for (size_t i = 0; i <= kMaximumRootFields; ++i) many += "f" + std::to_string(i) + " ";
    EXPECT_TRUE(document(many + "}").starts_with("fault"));
    std::string wide;  // each fragment names the next one twice
    for (int i = 0; i < 30; ++i)
        wide += "fragment F" + std::to_string(i) + " on Q { a ...F" + std::to_string(i + 1) + " ...F" +
                std::to_string(i + 1) + " }";
    EXPECT_EQ(document("{ ...F0 } " + wide + " fragment F30 on Q { b }"), "query a;query b;")
        << "in bounded time";
}

TEST(GraphqlBody, IsOneJsonObjectWithAText) {
    EXPECT_EQ(body(R"({"query": "{ a }", "variables": {"query": ":"}, "operationName": null})"), "query a;");
    EXPECT_EQ(body(R"({"query": "{ a }", "extensions": {"tracing": true}})"), "query a;");
    EXPECT_EQ(body(R"({"query": "{ a }", "extensions": null})"), "query a;");
    EXPECT_EQ(body(R"({"query": "query A { a } mutation B { b }", "operationName": "A"})"),
              "query a;mutation b;");
    EXPECT_EQ(body(R"({"\u0071uery": "mutation { b }"})"), "mutation b;");
    for (std::string_view text :
         {R"([{"query": "{ a }"}])", R"("{ a }")", "{ a }", "", R"({"query": ["{ a }"]})", R"({"query": ""})",
          R"({"extensions": {"persistedQuery": {"sha256Hash": "x"}}})", R"({"id": "x"})",
          R"({"query": "{ a }", "extensions": {"persistedQuery": {"version": 1, "sha256Hash": "x"}}})",
          R"({"query": "{ a }", "extensions": "{\"persistedQuery\": {\"sha256Hash\": \"x\"}}"})",
          R"({"query": "{ a }", "extensions": {"PersistedQuery": {"sha256Hash": "x"}}})",
          R"({"query": "{ a }", "extensions": [{"persistedQuery": {}}]})",
          R"({"query": "{ a }", "doc_id": "7"})", R"({"query": "{ a }", "Query": "mutation { b }"})",
          R"({"query": "{ a }", "query": "mutation { b }"})",
          R"({"query": "{ a }", "\u0071uery": "mutation { b }"})",
          R"({"query": "{ a }"} {"query": "{ b }"})"})
        EXPECT_TRUE(body(text).starts_with("fault: ")) << text << " gives " << body(text);
}

// ---- Rules

std::string verdict(const RequestSettings& settings, std::string_view text) {
    auto rules = RequestRules::make(settings);
    EXPECT_TRUE(rules.ok()) << (rules.ok() ? "" : rules.error().line());
    Request request{.host = "a.example", .method = "POST", .target = "/graphql"};
    EXPECT_EQ(rules->judge(request).need, Need::graphql);
    std::vector<RootField> fields;
    EXPECT_EQ(read_graphql_document(text, fields), "");
    switch (rules->judge_graphql(request, fields).decision) {
        case Decision::permitted:
            return "permitted";
        case Decision::ask:
            return "ask";
        case Decision::refused:
            return "refused";
    }
    return "";
}

config::Item item(std::string text, config::Layer layer = config::Layer::user) {
    return {std::move(text), {.layer = layer, .file = "config.toml", .line = 7}};
}

TEST(GraphqlRules, MatchRootFields) {
    RequestSettings reads{.allow = {item("graphql query a.example/graphql"),
                                    item("graphql mutation addStar a.example/graphql")}};
    EXPECT_EQ(verdict(reads, "{ viewer { login } }"), "permitted");
    EXPECT_EQ(verdict(reads, "mutation { addStar }"), "permitted");
    EXPECT_EQ(verdict(reads, "mutation { deleteIssue }"), "refused");
    EXPECT_EQ(verdict(reads, "mutation { addStar deleteIssue }"), "refused")
        << "one refused field refuses all";
    EXPECT_EQ(verdict(reads, "mutation { deleteIssue addStar }"), "refused");
    EXPECT_EQ(verdict(reads, "query A { a } mutation B { deleteIssue }"), "refused");
    EXPECT_EQ(verdict(reads, "subscription { a }"), "refused");
    RequestSettings blocks{.ask = {item("graphql mutation add* a.example/graphql")},
                           .block = {item("graphql mutation delete* a.example/graphql")}};
    EXPECT_EQ(verdict(blocks, "mutation { deleteIssue }"), "refused");
    EXPECT_EQ(verdict(blocks, "mutation { addStar }"), "ask");
    EXPECT_EQ(verdict(blocks, "mutation { addStar x deleteIssue }"), "refused");
    EXPECT_EQ(verdict(blocks, "mutation { updateIssue }"), "permitted");
}

TEST(GraphqlRules, ANamedFieldDecidesBeforeEveryField) {
    RequestSettings mixed{.allow = {item("graphql mutation addStar a.example/graphql")},
                          .block = {item("graphql mutation a.example/graphql")}};
    EXPECT_EQ(verdict(mixed, "mutation { addStar }"), "permitted");
    EXPECT_EQ(verdict(mixed, "mutation { x }"), "refused");
    RequestSettings path{.allow = {item("POST a.example/graphql")},
                         .block = {item("graphql mutation delete* a.example/graphql")}};
    EXPECT_EQ(verdict(path, "mutation { x }"), "permitted") << "the entry about the path";
    EXPECT_EQ(verdict(path, "mutation { deleteX }"), "refused");
    RequestSettings admin{
        .allow = {item("graphql mutation deleteX a.example/graphql")},
        .block = {item("graphql mutation delete* a.example/graphql", config::Layer::admin)}};
    EXPECT_EQ(verdict(admin, "mutation { deleteX }"), "refused");
}

TEST(GraphqlRules, AreNotPassedByAnotherMethodOrSpelling) {
    auto rules = RequestRules::make({.block = {item("graphql mutation a.example/graphql")}});
    Request request{.host = "a.example", .method = "GET", .target = "/graphql?query=mutation%7Bx%7D"};
    EXPECT_EQ(rules->judge(request).decision, Decision::refused);
    request.target = "/GraphQL;x?query=x";
    EXPECT_EQ(rules->judge(request).decision, Decision::refused);
    request = {.host = "a.example", .method = "POST", .target = "/graphql?query=mutation%7Bx%7D"};
    EXPECT_EQ(rules->judge(request).decision, Decision::refused) << "some servers prefer it to the body";
    request = {.host = "a.example", .method = "post", .target = "/%67raphql"};
    EXPECT_EQ(rules->judge(request).need, Need::graphql);
    request = {.host = "a.example", .method = "GET", .target = "/graphql"};
    EXPECT_TRUE(rules->judge(request).is_permitted()) << "a page without a query";
    EXPECT_EQ(rules->judge_graphql(request, {}).decision, Decision::refused);
    for (const char* target : {"/graphql", "/graphql.json", "/GraphQL.json;x", "/graphql."}) {
        for (const char* method : {"PUT", "PATCH", "put", "POSTS"}) {
            request = {.host = "a.example", .method = method, .target = target};
            EXPECT_EQ(rules->judge(request).decision, Decision::refused) << method << " " << target;
        }
    }
    request = {.host = "a.example", .method = "POST", .target = "/graphql.json"};
    EXPECT_EQ(rules->judge(request).decision, Decision::refused) << "the same place for some servers";
    request = {.host = "a.example", .method = "GET", .target = "/graphql.json?query=x"};
    EXPECT_EQ(rules->judge(request).decision, Decision::refused);
    for (const char* target : {"/graphql.js", "/graphql/x", "/graphqls", "/x.json", "/"}) {
        request = {.host = "a.example", .method = "GET", .target = target};
        EXPECT_TRUE(rules->judge(request).is_permitted()) << target;
    }
    for (const char* target : {"/graphql/x", "/graphqls", "/x.json"}) {
        request = {.host = "a.example", .method = "PUT", .target = target};
        EXPECT_TRUE(rules->judge(request).is_permitted()) << target;
    }
}

}  // namespace
}  // namespace network::requests
