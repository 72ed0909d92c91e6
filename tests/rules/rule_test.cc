// SPDX-License-Identifier: MIT
#include "rules/rule.h"

#include <gtest/gtest.h>

namespace network {
namespace {

// "host example.org 443-443" and the like.
std::string meaning(std::string_view text, Side side = Side::allow) {
    auto rule = parse_rule(text, side);
    if (!rule) return "refused";
    EXPECT_EQ(rule->text, text);
    std::string ports = rule->ports.is_any() ? ""
                                             : " " + std::to_string(rule->ports.first) + "-" +
                                                   std::to_string(rule->ports.last);
    if (rule->is_udp_only) ports += " udp";
    if (rule->is_raw) ports += " raw";
    switch (rule->target) {
        case Target::host:
            return "host " + rule->name + ports;
        case Target::network:
            return "network " + rule->prefix.str() + ports;
        case Target::wildcard:
            return "wildcard " + rule->name + ports;
        case Target::any:
            return "any" + ports;
        case Target::port:
            return "port" + ports;
    }
    return "";
}

std::string complaint(std::string_view text) {
    auto rule = parse_rule(text, Side::allow);
    return rule.ok() ? "" : rule.error().line();
}

TEST(Rule, ReadsEveryFormOfTheGrammar) {
    EXPECT_EQ(meaning("example.org"), "host example.org");
    EXPECT_EQ(meaning("Example.ORG."), "host example.org");
    EXPECT_EQ(meaning("example.org:443"), "host example.org 443-443");
    EXPECT_EQ(meaning("example.org:8000-8100"), "host example.org 8000-8100");
    EXPECT_EQ(meaning("bücher.example:80"), "host xn--bcher-kva.example 80-80");
    EXPECT_EQ(meaning("*.example.org"), "wildcard *.example.org");
    EXPECT_EQ(meaning("*.Bücher.example.:443"), "wildcard *.xn--bcher-kva.example 443-443");
    EXPECT_EQ(meaning("a.*.example.org"), "wildcard a.*.example.org");
    EXPECT_EQ(meaning("10.0.0.0/8"), "network 10.0.0.0/8");
    EXPECT_EQ(meaning("10.0.0.0/8:22"), "network 10.0.0.0/8 22-22");
    EXPECT_EQ(meaning("10.1.2.3"), "network 10.1.2.3");
    EXPECT_EQ(meaning("10.1.2.3:22-23"), "network 10.1.2.3 22-23");
    EXPECT_EQ(meaning("2001:db8::1"), "network 2001:db8::1");
    EXPECT_EQ(meaning("2001:db8::/32"), "network 2001:db8::/32");
    EXPECT_EQ(meaning("2001:db8::/32:443"), "network 2001:db8::/32 443-443");
    EXPECT_EQ(meaning("[2001:db8::1]:443"), "network 2001:db8::1 443-443");
    EXPECT_EQ(meaning("[2001:db8::1]"), "network 2001:db8::1");
    EXPECT_EQ(meaning("[2001:db8::/32]:443"), "network 2001:db8::/32 443-443");
    EXPECT_EQ(meaning("::ffff:10.0.0.1"), "network 10.0.0.1");
    EXPECT_EQ(meaning("443"), "port 443-443");
    EXPECT_EQ(meaning("8000-8100"), "port 8000-8100");
    EXPECT_EQ(meaning("1-65535"), "port");
    EXPECT_EQ(meaning("udp:53"), "port 53-53 udp");
    EXPECT_EQ(meaning("udp:5000-5010"), "port 5000-5010 udp");
    EXPECT_EQ(meaning("udp:time.example.org:123"), "host time.example.org 123-123 udp");
    EXPECT_EQ(meaning("udp:[2001:db8::1]:123"), "network 2001:db8::1 123-123 udp");
    EXPECT_EQ(meaning("udp:*"), "any udp");
    EXPECT_EQ(meaning("raw:*"), "any raw");
    EXPECT_EQ(meaning("raw:443"), "port 443-443 raw");
    EXPECT_EQ(meaning("raw:vpn.example.org:443"), "host vpn.example.org 443-443 raw");
    EXPECT_EQ(meaning("*"), "any");
    EXPECT_EQ(meaning("localhost"), "host localhost");
}

TEST(Rule, RefusesWhatIsNoRule) {
    for (std::string_view text : {"",
                                  "*.",
                                  ".",
                                  "**",
                                  "*.*",
                                  "**.example.org",
                                  "a*.example.org",
                                  "*a.example.org",
                                  "*.a.*.example.org",
                                  "a.*",
                                  "*example.org",
                                  ".example.org",
                                  "example.org:",
                                  "example.org:0",
                                  "example.org:65536",
                                  "example.org:https",
                                  "example.org:80:81",
                                  "example.org:080",
                                  "example.org:+80",
                                  "example.org:80-",
                                  "example.org:-80",
                                  "example.org:90-80",
                                  ":80",
                                  "0",
                                  "65536",
                                  "99999999999",
                                  "080",
                                  "80-",
                                  "-80",
                                  "90-80",
                                  "1-2-3",
                                  "-",
                                  "udp:",
                                  "udp:0",
                                  "udp:udp:53",
                                  "raw:",
                                  "raw:udp:53",
                                  "udp:raw:53",
                                  "UDP:53",
                                  "tcp:443",
                                  "tcp",
                                  "*:443",
                                  "[::1",
                                  "::1]",
                                  "[::1]443",
                                  "[::1]:",
                                  "[10.0.0.1]:22",
                                  "[]:22",
                                  "10.0.0.0/33",
                                  "10.0.0/8",
                                  "10.1.2.3/8",
                                  "10.0.0.0/8:",
                                  "10.0.0.0/8:0",
                                  "127.1",
                                  "0x7f000001",
                                  "0177.0.0.1",
                                  "2130706433",
                                  "127.1:80",
                                  "example.org/path",
                                  "a b",
                                  "a@b",
                                  "@github",
                                  "https://github.com",
                                  "a..b",
                                  "a.org..",
                                  "fe80::1%eth0",
                                  "a.org\n"}) {
        EXPECT_EQ(meaning(text), "refused") << text;
    }
    EXPECT_EQ(meaning(std::string(1u << 20, '*')), "refused");
}

TEST(Rule, SaysHowItIsWritten) {
    EXPECT_EQ(complaint("https://user@github.com/a?b"),
              "'https://user@github.com/a?b' is not a network rule: it is a URL; write github.com");
    EXPECT_EQ(
        complaint(".example.org"),
        "'.example.org' is not a network rule: it begins with a dot; write *.example.org for subdomains");
    EXPECT_EQ(complaint("tcp:443"),
              "'tcp:443' is not a network rule: only udp: and raw: in lower case stand in front of an entry; "
              "write 443 "
              "for TCP, "
              "udp:443 for UDP");
    EXPECT_EQ(complaint("*:443"),
              "'*:443' is not a network rule: a port of every host is written without a host; write 443");
    EXPECT_EQ(
        complaint("example.org:https"),
        "'example.org:https' is not a network rule: 'https' is not a port; write a port from 1 to 65535, or "
        "two with a '-' between them");
    EXPECT_EQ(complaint("10.1.2.3/8"),
              "'10.1.2.3/8' is not a network rule: '10.1.2.3/8' names an address within a network, not the "
              "network; write 10.0.0.0/8, or 10.1.2.3 alone");
}

TEST(Rule, OpensNoWildcardOverAPublicSuffix) {
    for (std::string_view text : {"*.com", "*.org", "*.xn--p1ai", "*.рф", "*.co.uk", "*.CO.UK.",
                                  "*.github.io", "*.amazonaws.com", "a.*.com", "*.us-east-1.amazonaws.com",
                                  "*.s3.eu-west-1.amazonaws.com", "*.workers.dev:443", "udp:*.com:53"}) {
        EXPECT_EQ(meaning(text), "refused") << text;
    }
    EXPECT_EQ(complaint("*.co.uk"),
              "'*.co.uk' is not a network rule: any person can register a name below co.uk; name the hosts");
    EXPECT_EQ(meaning("*.example.co.uk"), "wildcard *.example.co.uk");
    EXPECT_EQ(meaning("*.ann.github.io"), "wildcard *.ann.github.io");
}

TEST(Rule, ClosesOverAPublicSuffixWithoutHarm) {
    EXPECT_EQ(meaning("*.ngrok.io", Side::block), "wildcard *.ngrok.io");
    EXPECT_EQ(meaning("*.zip", Side::block), "wildcard *.zip");
}

TEST(Rule, IsOrderedBySpecificity) {
    constexpr std::string_view kOrder[] = {"a.b.example.org:443",
                                           "a.b.example.org:440-450",
                                           "a.b.example.org",
                                           "10.1.2.3:443",
                                           "10.1.2.3",
                                           "10.1.0.0/16",
                                           "10.0.0.0/8:443",
                                           "10.0.0.0/8",
                                           "*.b.example.org:1",
                                           "*.b.example.org",
                                           "*.example.org",
                                           "*",
                                           "443",
                                           "440-450",
                                           "1-65535"};
    for (size_t i = 1; i < std::size(kOrder); ++i) {
        EXPECT_GT(parse_rule(kOrder[i - 1], Side::block)->specificity(),
                  parse_rule(kOrder[i], Side::block)->specificity())
            << kOrder[i - 1] << " before " << kOrder[i];
    }
}

TEST(Rule, OpensUdpOnlyByName) {
    EXPECT_TRUE(parse_rule("a.org", Side::block)->is_for(Transport::udp));
    EXPECT_FALSE(parse_rule("a.org", Side::allow)->is_for(Transport::udp));
    EXPECT_TRUE(parse_rule("udp:53", Side::allow)->is_for(Transport::udp));
    EXPECT_FALSE(parse_rule("udp:53", Side::block)->is_for(Transport::tcp));
    EXPECT_TRUE(parse_rule("raw:a.org", Side::allow)->is_for(Transport::tcp));
    EXPECT_FALSE(parse_rule("raw:a.org", Side::allow)->is_for(Transport::udp));
    EXPECT_FALSE(parse_rule("raw:a.org", Side::block)->is_for(Transport::tcp));
    EXPECT_FALSE(parse_rule("raw:a.org", Side::block)->is_for(Transport::udp));
    EXPECT_FALSE(parse_rule("a.org", Side::allow)->is_for(Transport::raw));
}

}  // namespace
}  // namespace network
