// SPDX-License-Identifier: MIT
#include "rules/names/name.h"

#include <gtest/gtest.h>

namespace network {
namespace {

using namespace std::string_view_literals;

std::string normal(std::string_view text) {
    auto name = HostName::parse(text);
    return name.ok() ? name->str() : "refused";
}

std::string problem(std::string_view text) {
    auto name = HostName::parse(text);
    return name.ok() ? "" : name.error().what;
}

TEST(HostName, HasOneFormForEachHost) {
    EXPECT_EQ(normal("example.org"), "example.org");
    EXPECT_EQ(normal("API.Example.ORG"), "api.example.org");
    EXPECT_EQ(normal("example.org."), "example.org");
    EXPECT_EQ(normal("bücher.example"), "xn--bcher-kva.example");
    EXPECT_EQ(normal("XN--BCHER-KVA.example"), "xn--bcher-kva.example");
    EXPECT_EQ(normal("localhost"), "localhost");
    EXPECT_EQ(normal("_dmarc.example.org"), "_dmarc.example.org");
    EXPECT_EQ(normal("r3---sn-4g5e6n7k.example.org"), "r3---sn-4g5e6n7k.example.org");
    EXPECT_EQ(normal("3com.example"), "3com.example");
    EXPECT_EQ(normal("1.2.3.4.in-addr.arpa"), "1.2.3.4.in-addr.arpa");
}

TEST(HostName, SplitsIntoLabels) {
    EXPECT_EQ(HostName::parse("a.b.c")->labels(), (std::vector<std::string_view>{"a", "b", "c"}));
}

TEST(HostName, RefusesBytesThatEndALineOrAnAuthority) {
    for (std::string_view text :
         {"a\r.org"sv,  "a\n.org"sv, "a.org\0.evil.org"sv, "a b.org"sv,  "a@b.org"sv,
          "a#b.org"sv,  "a?b.org"sv, "a/b.org"sv,          "a\\b.org"sv, "a:b.org"sv,
          "a%62.org"sv, "[a].org"sv, "*.a.org"sv,          "a\tb.org"sv, "a\x7f.org"sv,
          "a,b.org"sv,  "a;b.org"sv, "a|b.org"sv,          "$(a).org"sv, "a\xff.org"sv}) {
        EXPECT_EQ(normal(text), "refused") << text;
    }
    EXPECT_EQ(problem("a\nb"), "'a\\x0ab' is not a host name: it holds a line break");
    EXPECT_EQ(problem("user@host"), "'user@host' is not a host name: it holds '@'");
}

TEST(HostName, RefusesDotsThatAreNotBetweenLabels) {
    for (std::string_view text : {"", ".", "..", "example.org..", ".example.org", "a..b"})
        EXPECT_EQ(normal(text), "refused") << text;
    EXPECT_EQ(problem("example.org.."), "'example.org..' is not a host name: it ends in two dots");
}

TEST(HostName, RefusesHyphensAtTheEdgeOfALabel) {
    for (std::string_view text : {"-oproxycommand", "a.-b.org", "a-.org", "-ü.org"})
        EXPECT_EQ(normal(text), "refused") << text;
}

TEST(HostName, HoldsTheLengthsOfTheDns) {
    std::string label(63, 'a');
    EXPECT_EQ(normal(label + ".org"), label + ".org");
    EXPECT_EQ(normal(label + "a.org"), "refused");
    std::string longest = label + "." + label + "." + label + "." + std::string(61, 'a');
    ASSERT_EQ(longest.size(), 253u);
    EXPECT_EQ(normal(longest), longest);
    EXPECT_EQ(normal(longest + "."), longest);
    EXPECT_EQ(normal(longest + "a"), "refused");
    EXPECT_EQ(normal(std::string(1u << 20, 'a')), "refused");
    EXPECT_LT(problem(std::string(1u << 20, 'a')).size(), 200u) << "a message does not repeat a megabyte";
}

TEST(HostName, IsNeverAnAddressInAnySpelling) {
    for (std::string_view text : {"127.0.0.1",       "127.0.0.1.",   "127.1",      "127.0.1",
                                  "0177.0.0.1",      "0x7f.0.0.1",   "0x7f000001", "0X7F000001",
                                  "2130706433",      "017700000001", "0",          "0x",
                                  "127.0.0.0x1",     "127.0.0.01",   "1.2.3",      "1.2.3.4.5",
                                  "256.256.256.256", "10.0.0.1e",    "a.1",        "a.0x1f"}) {
        bool is_name = text == "10.0.0.1e";
        EXPECT_EQ(normal(text) != "refused", is_name) << text;
    }
    EXPECT_EQ(normal("::1"), "refused");
    EXPECT_EQ(normal("[::1]"), "refused");
    EXPECT_NE(problem("0x7f.1").find("ends in a number"), std::string::npos) << problem("0x7f.1");
}

TEST(HostName, RefusesFalseALabels) {
    EXPECT_EQ(normal("xn--github-.com"), "refused");
    EXPECT_EQ(normal("a.xn--99999999.com"), "refused");
    EXPECT_EQ(normal("xn--ü.com"), "refused");
}

}  // namespace
}  // namespace network
