// SPDX-License-Identifier: MIT
#include "network/requests/rule.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "base/places.h"
#include "base/text.h"
#include "config/data.h"

namespace network::requests {
namespace {

std::string meaning(std::string_view text) {
    bool is_git = text.starts_with("fetch ") || text.starts_with("push ");
    auto rule = is_git ? parse_git_rule(text) : parse_request_rule(text, Side::allow);
    if (!rule) return "refused";
    EXPECT_EQ(rule->text, text);
    std::string methods = rule->methods.empty() ? "*" : base::join(rule->methods, ",");
    switch (rule->kind) {
        case Kind::http:
            return "http " + methods + " " + rule->host.text();
        case Kind::graphql:
            return "graphql " + std::string(to_text(rule->operation)) + " '" + rule->field + "' " +
                   rule->host.text();
        case Kind::fetch:
            return "fetch " + rule->host.text();
        case Kind::push:
            return "push " + rule->host.text() + " " + rule->refs + (rule->may_create ? " create" : "") +
                   (rule->may_update ? " update" : "") + (rule->may_delete ? " delete" : "");
    }
    return "";
}

TEST(RequestRule, ReadsEveryFormOfTheGrammar) {
    EXPECT_EQ(meaning("GET api.github.com/repos/**"), "http GET api.github.com");
    EXPECT_EQ(meaning("GET,HEAD API.GitHub.com/repos/me/*/issues"), "http GET,HEAD api.github.com");
    EXPECT_EQ(meaning("* registry.example.org/-/npm/**"), "http * registry.example.org");
    EXPECT_EQ(meaning("* registry.example.org:8443/"), "http * registry.example.org:8443");
    EXPECT_EQ(meaning("PROPFIND *.example.org/**"), "http PROPFIND *.example.org");
    EXPECT_EQ(meaning("GET bücher.example/**"), "http GET xn--bcher-kva.example");
    EXPECT_EQ(meaning("graphql query api.github.com/graphql"), "graphql query '' api.github.com");
    EXPECT_EQ(meaning("graphql mutation addStar api.github.com/graphql"),
              "graphql mutation 'addStar' api.github.com");
    EXPECT_EQ(meaning("graphql mutation *Key* a.example/g"), "graphql mutation '*Key*' a.example");
    EXPECT_EQ(meaning("graphql subscription a.example/g"), "graphql subscription '' a.example");
    EXPECT_EQ(meaning("fetch github.com/**"), "fetch github.com");
    EXPECT_EQ(meaning("fetch github.com/me/app.git"), "fetch github.com");
    EXPECT_EQ(meaning("push github.com/me/app refs/heads/agent/*"),
              "push github.com refs/heads/agent/* create update delete");
    EXPECT_EQ(meaning("push github.com/me/app refs/tags/** create"), "push github.com refs/tags/** create");
    EXPECT_EQ(meaning("push github.com/me/app ** update delete"), "push github.com ** update delete");
}

TEST(RequestRule, RefusesEverythingElse) {
    for (std::string_view text : {"",
                                  " ",
                                  "GET",
                                  "api.github.com/**",
                                  "GET api.github.com",
                                  "get api.github.com/**",
                                  "GET  api.github.com/**",
                                  "GET api.github.com/** x",
                                  "GET https://api.github.com/**",
                                  "GET */**",
                                  "GET *.com/**",
                                  "GET *.co.uk/**",
                                  "GET a.*.org/**",
                                  "GET 127.0.0.1/**",
                                  "GET [::1]/**",
                                  "GET a.example:0/**",
                                  "GET a.example:70000/**",
                                  "GET a.example:/x",
                                  "GET,GET a.example/**",
                                  "GET, a.example/**",
                                  ",GET a.example/**",
                                  "G*T a.example/**",
                                  "TRACE a.example/**",
                                  "CONNECT a.example/**",
                                  "GET,TRACE a.example/**",
                                  "GET a.example/../b",
                                  "GET a.example/a?b=c",
                                  "GET me@a.example/x",
                                  "graphql a.example/g",
                                  "graphql delete a.example/g",
                                  "graphql mutation add-star a.example/g",
                                  "graphql mutation a b a.example/g",
                                  "graphql query a.example",
                                  "fetch",
                                  "fetch github.com",
                                  "fetch github.com/** refs/x",
                                  "push github.com/me/app",
                                  "push github.com/me/app heads/x",
                                  "push github.com/me/app refs/x force",
                                  "push github.com/me/app refs/x create create",
                                  "push */** refs/**"}) {
        EXPECT_EQ(meaning(text), "refused") << text;
    }
    EXPECT_EQ(meaning("GET a.example/" + std::string(3000, 'x')), "refused");
}

TEST(RequestRule, ExplainsARefusalInOneLine) {
    auto complaint = [](std::string_view text) {
        auto rule = parse_request_rule(text, Side::allow);
        return rule.ok() ? "" : rule.error().line();
    };
    EXPECT_EQ(complaint("GET a.example"),
              "'GET a.example' is not a request rule: it names no path; write a.example/** for every path");
    EXPECT_EQ(complaint("GET https://a.example/x"),
              "'GET https://a.example/x' is not a request rule: it names a scheme; leave https:// out");
    EXPECT_EQ(complaint("fetch a.example/x"),
              "'fetch a.example/x' is not a request rule: it is about git; write it in requests.git");
    EXPECT_NE(complaint("GET a.example/x\x1b[2J\ny").find("\\x1b"), std::string::npos);
    EXPECT_EQ(complaint("GET a.example/x\ny").find('\n'), std::string::npos);
}

TEST(HostPattern, MatchesSubdomainsAndPorts) {
    auto matches = [](std::string_view pattern, std::string_view host, uint16_t port = 443) {
        return parse_host_pattern(pattern)->matches(host, port);
    };
    EXPECT_TRUE(matches("a.example", "a.example"));
    EXPECT_TRUE(matches("a.example", "a.example", 8443)) << "without a port every port";
    EXPECT_FALSE(matches("a.example:8443", "a.example"));
    EXPECT_FALSE(matches("a.example", "b.a.example"));
    EXPECT_FALSE(matches("a.example", "xa.example"));
    EXPECT_TRUE(matches("*.a.example", "b.a.example"));
    EXPECT_TRUE(matches("*.a.example", "c.b.a.example"));
    EXPECT_FALSE(matches("*.a.example", "a.example"));
    EXPECT_FALSE(matches("*.a.example", "ba.example"));
    EXPECT_FALSE(matches("*.a.example", ".a.example"));
}

config::Item item(std::string text) {
    return {std::move(text), config::from_flag("--allow-request")};
}

TEST(RequestLists, AreNamedWithTheirPurpose) {
    std::set<std::string> named, files;
    for (const config::DataRow& row : config::data_list("network/request_lists")) named.emplace(row.entry);
    const auto folder = std::filesystem::path(test::data()).parent_path() / "share/requests";
    for (const auto& entry : std::filesystem::directory_iterator(folder))
        files.insert(entry.path().stem().string());
    EXPECT_EQ(named, files);
    EXPECT_EQ(named.size(), 9u);
}

TEST(RequestLists, HaveValidRowsWithReasons) {
    for (const config::DataRow& list : config::data_list("network/request_lists")) {
        auto rules = request_rules_of(item("@" + std::string(list.entry)),
                                      list.entry == "github-lasting" ? Side::block : Side::allow);
        ASSERT_TRUE(rules.ok()) << rules.error().line();
        std::set<std::string> seen;
        for (const RequestRule& rule : *rules) {
            EXPECT_TRUE(seen.insert(std::string(to_text(rule.side)) + rule.text).second) << rule.text;
            EXPECT_FALSE(rule.reason.empty()) << rule.text;
            EXPECT_EQ(rule.list, list.entry);
            EXPECT_EQ(rule.origin.describe(), "--allow-request");
            EXPECT_EQ(rule.described(), "@" + std::string(list.entry) + ": " + rule.text);
        }
    }
}

TEST(RequestLists, OfPermittedRequestsAreRefusedInBlock) {
    auto rules = request_rules_of(item("@npm-install"), Side::block);
    ASSERT_FALSE(rules.ok());
    EXPECT_EQ(rules.error().line(),
              "--allow-request: @npm-install is a list of requests to permit; "
              "name it in requests.allow, not in requests.block");
}

TEST(RequestLists, ThatAreUnknownGetTheNearestName) {
    auto rules = request_rules_of(item("@npm-instal"), Side::allow);
    ASSERT_FALSE(rules.ok());
    EXPECT_EQ(rules.error().line(),
              "--allow-request: there is no list of requests '@npm-instal'; "
              "'@npm-install' was probably meant");
}

}  // namespace
}  // namespace network::requests
