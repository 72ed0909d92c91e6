// SPDX-License-Identifier: MIT
// The decisions of the rules about addresses: literal ones, and those that a name resolved to.
#include "rules/engine_helpers.h"

namespace network {
namespace {

TEST(EngineAddresses, RefusesLiteralsThatNoAddressRuleOpens) {
    for (NetworkMode mode : {NetworkMode::filtered, NetworkMode::proxied}) {
        for (const char* text : {"8.8.8.8", "2001:4860:4860::8888", "::ffff:8.8.8.8"}) {
            Verdict verdict = engine({.mode = mode}).decide(question(text));
            EXPECT_EQ(verdict.cause, Cause::literal) << text;
            EXPECT_NE(verdict.reason.find("network.literals = deny"), std::string::npos);
        }
        Engine loose = engine({.mode = mode, .allow = user({"*", "443", "example.org", "udp:443"})});
        EXPECT_FALSE(opens(loose, "8.8.8.8")) << "rules about names and ports do not speak of addresses";
        Engine opened = engine({.mode = mode, .allow = user({"8.8.8.0/24:443"})});
        EXPECT_TRUE(opens(opened, "8.8.8.8"));
        EXPECT_TRUE(opens(opened, "::ffff:8.8.8.8"));
        EXPECT_TRUE(opens(opened, "64:ff9b::8.8.8.8"));
        EXPECT_FALSE(opens(opened, "8.8.8.8", 80));
        EXPECT_FALSE(opens(opened, "2002:808:808::1")) << "a tunnel leads to another host";
    }
}

TEST(EngineAddresses, OpensLiteralsBySetting) {
    EXPECT_TRUE(opens(engine({.are_literals_open = true}), "8.8.8.8"));
    EXPECT_FALSE(opens(engine({.mode = NetworkMode::proxied, .are_literals_open = true}), "8.8.8.8"));
    EXPECT_TRUE(
        opens(engine({.mode = NetworkMode::proxied, .allow = user({"443"}), .are_literals_open = true}),
              "8.8.8.8"));
    EXPECT_FALSE(opens(engine({.are_literals_open = true}), "127.0.0.1"));
    EXPECT_FALSE(opens(engine({.block = user({"8.8.8.0/24"}), .are_literals_open = true}), "2002:808:808::1"))
        << "a block holds for the end of a tunnel too";
}

TEST(EngineAddresses, ClosesTheAddressFloorForLiterals) {
    for (const char* text : {"127.0.0.1", "::1", "::ffff:127.0.0.1", "169.254.169.254", "10.0.0.1",
                             "64:ff9b::10.0.0.1", "0.0.0.0", "::"}) {
        Engine rules = engine({.allow = admin({"0.0.0.0/0", "::/0", text}), .are_literals_open = true});
        EXPECT_EQ(rules.decide(question(text)).cause, Cause::address_floor) << text;
    }
    Engine site = engine({.allow = user({"10.20.0.0/16"}), .private_networks = user({"10.20.0.0/16"})});
    EXPECT_TRUE(opens(site, "10.20.0.5"));
    EXPECT_FALSE(opens(site, "10.21.0.5"));
}

TEST(EngineAddresses, ChecksWhatANameResolvedTo) {
    Engine rules =
        engine({.block = user({"203.0.113.0/24"}), .allow = user({"*.example.org", "b.example.org"})});
    auto verdict = [&](const char* name, const char* address, uint16_t port = 443) {
        return rules.decide_resolved(*HostName::parse(name), *Address::parse(address), port);
    };
    EXPECT_TRUE(verdict("a.example.org", "8.8.8.8").is_allowed());
    EXPECT_TRUE(verdict("a.example.org", "64:ff9b::8.8.8.8").is_allowed()) << "DNS64";
    EXPECT_EQ(verdict("a.example.org", "203.0.113.1").rule, "203.0.113.0/24")
        << "a network before a wildcard";
    EXPECT_FALSE(verdict("a.example.org", "2002:cb00:7101::1").is_allowed()) << "the same network by 6to4";
    EXPECT_TRUE(verdict("b.example.org", "203.0.113.1").is_allowed()) << "a host before a network";
    for (const char* address : {"127.0.0.1", "169.254.169.254", "10.1.2.3", "::1", "fd00:ec2::254",
                                "2002:7f00:1::", "64:ff9b::7f00:1"}) {
        EXPECT_EQ(verdict("b.example.org", address).cause, Cause::address_floor) << address;
    }
    EXPECT_FALSE(verdict("webhook.site", "8.8.8.8").is_allowed()) << "the name is judged again";
    EXPECT_FALSE(verdict("a.example.org", "8.8.8.8", 25).is_allowed());
}

TEST(EngineAddresses, TakesAwayOnlyAfterResolving) {
    Engine rules =
        engine({.mode = NetworkMode::proxied, .block = user({"*.evil.org"}), .allow = user({"8.8.8.0/24"})});
    EXPECT_FALSE(
        rules.decide_resolved(*HostName::parse("a.evil.org"), *Address::parse("8.8.8.8"), 443).is_allowed());
    EXPECT_FALSE(
        rules.decide_resolved(*HostName::parse("other.org"), *Address::parse("8.8.8.8"), 443).is_allowed());
}

TEST(EngineAddresses, HoldsAnAdministratorsNetworkAgainstAUsersHost) {
    Engine rules = engine({.block = admin({"203.0.113.0/24"}), .allow = user({"a.example.org:443"})});
    EXPECT_FALSE(rules.decide_resolved(*HostName::parse("a.example.org"), *Address::parse("203.0.113.9"), 443)
                     .is_allowed());
    EXPECT_TRUE(rules.decide_resolved(*HostName::parse("a.example.org"), *Address::parse("203.0.114.9"), 443)
                    .is_allowed());
}

TEST(EngineAddresses, JudgesAnAddressBeforeAPortIsKnown) {
    EngineSettings settings{.block = user({"closed.example.org"}),
                            .private_networks = user({"10.20.0.0/16"})};
    settings.host_services = user({"10.1.2.3:5432"});
    Engine rules = engine(settings);
    auto is_open = [&](std::string_view name, std::string_view address) {
        return rules.decide_address(*HostName::parse(name), *Address::parse(address)).is_allowed();
    };
    EXPECT_TRUE(is_open("example.org", "93.184.216.34"));
    EXPECT_TRUE(is_open("example.org", "10.20.0.1"));
    EXPECT_TRUE(is_open("example.org", "10.1.2.3")) << "one of its ports is open";
    EXPECT_FALSE(is_open("example.org", "10.1.2.4"));
    EXPECT_FALSE(is_open("example.org", "127.0.0.1"));
    EXPECT_FALSE(is_open("closed.example.org", "93.184.216.34"));
    EXPECT_TRUE(engine({.mode = NetworkMode::open})
                    .decide_address(*HostName::parse("a.org"), *Address::parse("127.0.0.1"))
                    .is_allowed());
}

}  // namespace
}  // namespace network
