// SPDX-License-Identifier: MIT
// "raw:" entries, and the ports on which unknown protocols are refused without one.
#include <gtest/gtest.h>

#include "rules/built_in_rules.h"
#include "rules/engine_helpers.h"
#include "rules/rules_text.h"

namespace network {
namespace {

Verdict raw(const Engine& rules, std::string_view host, uint16_t port) {
    return rules.decide_raw(*parse_host(host), port);
}

TEST(RawRule, IsClosedWhereHttpOrTlsIsUsual) {
    Engine rules = engine({});
    for (uint16_t port :
         std::initializer_list<uint16_t>{80, 443, 636, 993, 3000, 6443, 8000, 8080, 8443, 8888, 9200}) {
        Verdict verdict = raw(rules, "example.org", port);
        EXPECT_FALSE(verdict.is_allowed()) << port;
        EXPECT_EQ(verdict.cause, Cause::protocol);
        EXPECT_EQ(verdict.change, "network.allow = [\"raw:example.org:" + std::to_string(port) + "\"]");
        EXPECT_TRUE(opens(rules, "example.org", port)) << "TLS and HTTP pass as before";
    }
    for (uint16_t port : std::initializer_list<uint16_t>{21, 22, 389, 873, 1080, 1883, 3306, 5432, 5672, 6379,
                                                         9000, 9418, 11211, 27017}) {
        EXPECT_TRUE(raw(rules, "example.org", port).is_allowed()) << port;
        EXPECT_EQ(usual_protocol(port), "");
    }
    EXPECT_TRUE(raw(rules, "203.0.113.1", 443).is_allowed()) << "an open address is open to every protocol";
}

TEST(RawRule, OpensTheConnectionAndLeavesItUnread) {
    for (NetworkMode mode : {NetworkMode::filtered, NetworkMode::proxied}) {
        Engine rules = engine({.mode = mode, .allow = user({"raw:vpn.example:443"})});
        EXPECT_TRUE(opens(rules, "vpn.example", 443));
        Verdict verdict = raw(rules, "vpn.example", 443);
        EXPECT_TRUE(verdict.is_allowed());
        EXPECT_EQ(verdict.cause, Cause::rule);
        EXPECT_FALSE(raw(rules, "vpn.example", 8443).is_allowed());
        EXPECT_FALSE(raw(rules, "other.example", 443).is_allowed());
        EXPECT_FALSE(opens(rules, "vpn.example", 443, Transport::udp));
    }
    Engine closed = engine({.mode = NetworkMode::proxied, .allow = user({"raw:vpn.example:443"})});
    EXPECT_FALSE(opens(closed, "vpn.example", 80));
    EXPECT_EQ(raw(engine({.allow = user({"example.org:443"})}), "example.org", 443).cause, Cause::protocol)
        << "an entry without the word says nothing of it";
}

TEST(RawRule, IsClosedByABlockThatLeavesTheRestOpen) {
    Engine rules = engine({.block = user({"raw:*"})});
    EXPECT_TRUE(opens(rules, "example.org", 5432));
    Verdict verdict = raw(rules, "example.org", 5432);
    EXPECT_FALSE(verdict.is_allowed());
    EXPECT_EQ(verdict.rule, "raw:*");
    EXPECT_EQ(verdict.change, "network.allow = [\"raw:example.org:5432\"]");
    EXPECT_TRUE(
        raw(engine({.block = user({"raw:*"}), .allow = user({"raw:example.org"})}), "example.org", 5432)
            .is_allowed());
}

TEST(RawRule, IsHeldByTheAdministrator) {
    Engine rules = engine({.block = admin({"raw:*"}), .allow = user({"raw:example.org:443"})});
    Verdict verdict = raw(rules, "example.org", 443);
    EXPECT_FALSE(verdict.is_allowed());
    EXPECT_EQ(verdict.change, "");
    EXPECT_EQ(verdict.advice, "only the administrator can change this");
    Engine excepted = engine({.block = admin({"raw:*"}), .allow = admin({"raw:example.org:443"})});
    EXPECT_TRUE(raw(excepted, "example.org", 443).is_allowed());
    Engine blocked = engine({.block = admin({"example.org"}), .allow = user({"raw:example.org:443"})});
    EXPECT_FALSE(opens(blocked, "example.org", 443))
        << "an entry with the word opens no more than one without";
}

TEST(RawRule, SpeaksOfTheAddressOfAName) {
    Engine rules = engine({.allow = user({"raw:198.51.100.0/24"})});
    Address inside = *Address::parse("198.51.100.7"), outside = *Address::parse("203.0.113.1");
    EXPECT_TRUE(rules.decide_raw(*parse_host("example.org"), 443, &inside).is_allowed());
    EXPECT_FALSE(rules.decide_raw(*parse_host("example.org"), 443, &outside).is_allowed());
}

TEST(RawRule, IsAskedAboutByItsWord) {
    Engine rules = engine({.block = user({"closed.example"})});
    EXPECT_FALSE(rules.decide(*parse_question("raw:example.org:443")).is_allowed());
    EXPECT_TRUE(rules.decide(*parse_question("raw:example.org:5432")).is_allowed());
    EXPECT_EQ(rules.decide(*parse_question("raw:closed.example:5432")).rule, "closed.example");
    EXPECT_EQ(to_text(*parse_question("raw:example.org")), "raw:example.org:443");
    Engine open = engine({.mode = NetworkMode::open});
    EXPECT_TRUE(open.decide(*parse_question("raw:example.org:443")).is_allowed());
}

}  // namespace
}  // namespace network
