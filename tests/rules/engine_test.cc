// SPDX-License-Identifier: MIT
#include "rules/engine.h"

#include "rules/engine_helpers.h"

namespace network {
namespace {

TEST(ParseHost, TellsNamesFromAddresses) {
    EXPECT_TRUE(std::holds_alternative<HostName>(*parse_host("Example.org.")));
    EXPECT_TRUE(std::holds_alternative<Address>(*parse_host("10.0.0.1")));
    EXPECT_TRUE(std::holds_alternative<Address>(*parse_host("2001:db8::1")));
    EXPECT_TRUE(std::holds_alternative<Address>(*parse_host("[2001:db8::1]")));
    for (const char* text :
         {"", "[]", "[10.0.0.1]", "[a.org]", "127.1", "0x7f000001", "2130706433", "::1%lo", "[::1", "a..b"}) {
        EXPECT_FALSE(parse_host(text).ok()) << text;
    }
}

TEST(Engine, HasADefaultForEachMode) {
    EXPECT_TRUE(opens(engine({.mode = NetworkMode::open}), "example.org"));
    EXPECT_TRUE(opens(engine({.mode = NetworkMode::filtered}), "example.org"));
    EXPECT_FALSE(opens(engine({.mode = NetworkMode::proxied}), "example.org"));
    EXPECT_FALSE(opens(engine({.mode = NetworkMode::isolated}), "example.org"));
}

TEST(Engine, FiltersNothingWhenOpenAndOpensNothingWhenIsolated) {
    Engine open = engine({.mode = NetworkMode::open, .block = user({"*"})});
    EXPECT_TRUE(opens(open, "webhook.site", 25));
    EXPECT_TRUE(opens(open, "127.0.0.1"));
    EXPECT_TRUE(
        open.decide_resolved(*HostName::parse("a.org"), *Address::parse("127.0.0.1"), 80).is_allowed());
    Engine isolated =
        engine({.mode = NetworkMode::isolated, .allow = admin({"*", "example.org:443", "8.8.8.8"})});
    EXPECT_FALSE(opens(isolated, "example.org"));
    EXPECT_FALSE(opens(isolated, "8.8.8.8"));
    EXPECT_FALSE(isolated.decide_lookup(*HostName::parse("example.org")).is_allowed());
    EXPECT_FALSE(isolated.decide_resolved(*HostName::parse("example.org"), *Address::parse("8.8.8.8"), 443)
                     .is_allowed());
}

TEST(Engine, MatchesHostsInEverySpelling) {
    Engine rules = engine({.block = user({"Example.ORG.", "*.bücher.example"})});
    for (const char* text : {"example.org", "EXAMPLE.org", "example.org."})
        EXPECT_FALSE(opens(rules, text)) << text;
    EXPECT_FALSE(opens(rules, "www.bücher.example"));
    EXPECT_FALSE(opens(rules, "www.xn--bcher-kva.example"));
    EXPECT_TRUE(opens(rules, "bücher.example")) << "a wildcard does not take in its apex";
    EXPECT_TRUE(opens(rules, "a.example.org"));
    EXPECT_TRUE(opens(rules, "notexample.org"));
}

TEST(Engine, MatchesWildcardsAtEveryDepth) {
    Engine rules = engine({.block = user({"*.example.org", "a.*.example.net"})});
    EXPECT_FALSE(opens(rules, "a.example.org"));
    EXPECT_FALSE(opens(rules, "a.b.c.d.example.org"));
    EXPECT_TRUE(opens(rules, "aexample.org"));
    EXPECT_FALSE(opens(rules, "a.x.example.net"));
    EXPECT_TRUE(opens(rules, "a.x.y.example.net")) << "a star in between stands for one label";
    EXPECT_TRUE(opens(rules, "b.x.example.net"));
    EXPECT_TRUE(opens(rules, "x.a.x.example.net"));
}

TEST(Engine, BlocksByPortAndRange) {
    Engine rules = engine({.block = user({"22", "8000-8010", "example.org:443"})});
    EXPECT_FALSE(opens(rules, "a.org", 22));
    EXPECT_FALSE(opens(rules, "a.org", 8000));
    EXPECT_FALSE(opens(rules, "a.org", 8010));
    EXPECT_TRUE(opens(rules, "a.org", 8011));
    EXPECT_FALSE(opens(rules, "example.org", 443));
    EXPECT_TRUE(opens(rules, "example.org", 80));
    EXPECT_FALSE(opens(rules, "a.org", 0));
}

// For each pair of rules in this order: the more specific rule decides, on whichever side it is.
TEST(Engine, LetsTheMostSpecificRuleDecide) {
    constexpr const char* kOrder[] = {"a.b.example.org:443",
                                      "a.b.example.org",
                                      "*.b.example.org:443",
                                      "*.b.example.org",
                                      "*.example.org",
                                      "*",
                                      "443"};
    for (size_t i = 0; i < std::size(kOrder); ++i) {
        for (size_t j = i + 1; j < std::size(kOrder); ++j) {
            for (NetworkMode mode : {NetworkMode::filtered, NetworkMode::proxied}) {
                Engine opened =
                    engine({.mode = mode, .block = user({kOrder[j]}), .allow = user({kOrder[i]})});
                EXPECT_TRUE(opens(opened, "a.b.example.org")) << kOrder[i] << " over " << kOrder[j];
                EXPECT_EQ(opened.decide(question("a.b.example.org")).rule, kOrder[i]);
                Engine closed =
                    engine({.mode = mode, .block = user({kOrder[i]}), .allow = user({kOrder[j]})});
                EXPECT_FALSE(opens(closed, "a.b.example.org")) << kOrder[i] << " over " << kOrder[j];
                EXPECT_EQ(closed.decide(question("a.b.example.org")).rule, kOrder[i]);
            }
        }
    }
}

TEST(Engine, OrdersNetworksByTheirLength) {
    Engine rules = engine({.block = user({"203.0.113.0/24", "2001:db8::/32"}),
                           .allow = user({"203.0.0.0/16", "203.0.113.7", "2001:db8:1::/48"})});
    EXPECT_TRUE(opens(rules, "203.0.1.1"));
    EXPECT_FALSE(opens(rules, "203.0.113.8"));
    EXPECT_TRUE(opens(rules, "203.0.113.7"));
    EXPECT_TRUE(opens(rules, "2001:db8:1::1"));
    EXPECT_FALSE(opens(rules, "2001:db8:2::1"));
}

TEST(Engine, LetsBlocksWinAtEqualSpecificity) {
    for (const char* text : {"example.org:443", "example.org", "*", "443"}) {
        EXPECT_FALSE(opens(engine({.block = user({text}), .allow = user({text})}), "example.org")) << text;
        EXPECT_FALSE(opens(engine({.block = user({text}), .allow = admin({text})}), "example.org"))
            << text << ": a user may be stricter than the administrator";
    }
}

TEST(Engine, HoldsTheAdministratorsBlocksAgainstEveryAllow) {
    for (const char* block : {"a.example.org:443", "a.example.org", "*.example.org", "*", "443", "400-500"}) {
        Engine rules =
            engine({.block = admin({block}),
                    .allow = user({"a.example.org:443", "a.example.org", "*.example.org", "*", "443"})});
        Verdict verdict = rules.decide(question("a.example.org"));
        EXPECT_FALSE(verdict.is_allowed()) << block;
        EXPECT_EQ(verdict.rule, block);
        EXPECT_EQ(verdict.origin.layer, Layer::admin);
        EXPECT_EQ(verdict.advice, "only the administrator can change this");
    }
}

TEST(Engine, LetsTheAdministratorMakeExceptionsToHisOwnBlocks) {
    Engine rules = engine({.block = admin({"*"}), .allow = admin({"*.example.org"}) + user({"evil.org"})});
    EXPECT_TRUE(opens(rules, "a.example.org"));
    EXPECT_FALSE(opens(rules, "evil.org"));
}

TEST(Engine, DeniesByDefaultWithAStarAndHosts) {
    Engine rules = engine({.block = user({"*"}), .allow = user({"example.org", "*.example.net"})});
    EXPECT_TRUE(opens(rules, "example.org"));
    EXPECT_TRUE(opens(rules, "a.example.net"));
    EXPECT_FALSE(opens(rules, "other.org"));
}

TEST(Engine, LetsAUserOpenWhatIsOnlyShippedAsClosed) {
    EXPECT_FALSE(opens(engine({}), "webhook.site"));
    EXPECT_TRUE(opens(engine({.has_shipped_list = false}), "webhook.site"));
    EXPECT_TRUE(opens(engine({.allow = user({"webhook.site"})}), "webhook.site"));
    EXPECT_TRUE(opens(engine({.allow = user({"webhook.site:443"})}), "webhook.site"));
    EXPECT_FALSE(opens(engine({.allow = user({"webhook.site:443"})}), "webhook.site", 80));
    EXPECT_FALSE(opens(engine({.allow = user({"*"})}), "webhook.site")) << "less specific";
    EXPECT_FALSE(opens(engine({.allow = user({"443"})}), "webhook.site")) << "less specific";
    EXPECT_TRUE(opens(engine({.allow = user({"*.requestbin.com"})}), "x.requestbin.com"))
        << "equally specific";
    EXPECT_FALSE(
        opens(engine({.block = admin({"webhook.site"}), .allow = user({"webhook.site"})}), "webhook.site"));
    EXPECT_FALSE(
        opens(engine({.block = user({"webhook.site"}), .allow = user({"webhook.site"})}), "webhook.site"));
    Verdict verdict = engine({}).decide(question("webhook.site"));
    EXPECT_EQ(verdict.cause, Cause::shipped_list);
    EXPECT_EQ(verdict.advice, "if it is needed, open it with network.allow = [\"webhook.site\"]");
}

TEST(Engine, ClosesThePortFloorAgainstEveryoneButTheAdministrator) {
    constexpr uint16_t kFloor[] = {23, 24, 25, 79, 113, 465, 512, 513, 514, 587, 853, 2525};
    for (uint16_t port : kFloor) {
        std::string at_port = "mail.example.org:" + std::to_string(port);
        Engine users =
            engine({.allow = user({"*", "mail.example.org", at_port.c_str(), "1-65535", "udp:1-65535"})});
        EXPECT_EQ(users.decide(question("mail.example.org", port)).cause, Cause::port_floor) << port;
        EXPECT_EQ(users.decide(question("mail.example.org", port, Transport::udp)).cause, Cause::port_floor)
            << port;
        Engine lifted = engine({.allow = admin({at_port.c_str()})});
        EXPECT_TRUE(opens(lifted, "mail.example.org", port)) << port;
        EXPECT_FALSE(opens(lifted, "other.example.org", port)) << port;
        EXPECT_FALSE(opens(lifted, "mail.example.org", port, Transport::udp)) << port;
    }
}

TEST(Engine, LiftsThePortFloorOnlyWhereThePortIsNamed) {
    EXPECT_FALSE(opens(engine({.allow = admin({"mail.example.org", "*"})}), "mail.example.org", 587));
    Engine both = engine({.mode = NetworkMode::proxied, .allow = admin({"587"})});
    EXPECT_TRUE(opens(both, "mail.example.org", 587)) << "a port of any host";
    Engine narrowed = engine({.block = user({"mail.example.org"}), .allow = admin({"587"})});
    EXPECT_FALSE(opens(narrowed, "mail.example.org", 587));
}

TEST(Engine, OpensUdpByRuleAlone) {
    for (NetworkMode mode : {NetworkMode::filtered, NetworkMode::proxied}) {
        Engine closed = engine({.mode = mode, .allow = user({"*", "example.org", "443"})});
        EXPECT_EQ(closed.decide(question("example.org", 443, Transport::udp)).cause, Cause::udp);
        Engine by_port = engine({.mode = mode, .allow = user({"udp:123"})});
        EXPECT_TRUE(opens(by_port, "example.org", 123, Transport::udp));
        EXPECT_FALSE(opens(by_port, "example.org", 124, Transport::udp));
        Engine by_host = engine({.mode = mode, .allow = user({"udp:example.org:443"})});
        EXPECT_TRUE(opens(by_host, "example.org", 443, Transport::udp));
        EXPECT_FALSE(opens(by_host, "other.org", 443, Transport::udp));
    }
    Engine blocked = engine({.block = user({"example.org"}), .allow = user({"udp:443"})});
    EXPECT_FALSE(opens(blocked, "example.org", 443, Transport::udp))
        << "a block without a transport closes both";
    Engine only_udp = engine({.block = user({"udp:example.org"})});
    EXPECT_TRUE(opens(only_udp, "example.org"));
}

TEST(Engine, AnswersALookupWhereSomePortIsOpen) {
    auto looks_up = [](const EngineSettings& settings, const char* name) {
        return engine(settings).decide_lookup(*HostName::parse(name)).is_allowed();
    };
    constexpr NetworkMode kProxied = NetworkMode::proxied;
    EXPECT_TRUE(looks_up({}, "example.org"));
    EXPECT_FALSE(looks_up({}, "webhook.site"));
    EXPECT_FALSE(looks_up({.mode = kProxied}, "example.org"));
    EXPECT_TRUE(looks_up({.mode = kProxied, .allow = user({"example.org:22"})}, "example.org"));
    EXPECT_FALSE(looks_up({.mode = kProxied, .allow = user({"example.org:22"})}, "other.org"));
    EXPECT_TRUE(looks_up({.mode = kProxied, .allow = user({"udp:time.org:123"})}, "time.org"));
    EXPECT_FALSE(looks_up({.mode = kProxied, .allow = user({"example.org:25"})}, "example.org"));
    EXPECT_TRUE(looks_up({.mode = kProxied, .allow = user({"example.org:512-515"})}, "example.org"))
        << "515 is above the floor";
    EXPECT_FALSE(looks_up({.mode = kProxied, .allow = user({"example.org:512-514"})}, "example.org"));
    EXPECT_TRUE(looks_up({.block = user({"example.org:1-500"})}, "example.org"));
    EXPECT_FALSE(looks_up({.block = admin({"*"}), .allow = user({"example.org:22"})}, "example.org"));
    EXPECT_FALSE(looks_up({.mode = kProxied, .allow = user({"8.8.8.0/24"})}, "example.org"));
}

TEST(Engine, SaysWhoDecidedWhyAndWhatToDo) {
    Engine rules =
        engine({.mode = NetworkMode::proxied, .block = user({"evil.org"}), .allow = user({"@github"})});
    Verdict opened = rules.decide(question("api.github.com"));
    EXPECT_EQ(opened.rule, "@github: api.github.com");
    EXPECT_EQ(opened.origin.describe(), "user:1");
    Verdict closed = rules.decide(question("evil.org"));
    EXPECT_EQ(closed.cause, Cause::rule);
    EXPECT_EQ(closed.reason, "network.block closes it");
    Verdict unlisted = rules.decide(question("other.org"));
    EXPECT_EQ(unlisted.cause, Cause::mode);
    EXPECT_EQ(unlisted.advice, "if it is needed, open it with network.allow = [\"other.org\"]");
    EXPECT_EQ(rules.decide(question("other.org", 123, Transport::udp)).advice,
              "if it is needed, open it with network.allow = [\"udp:other.org:123\"]");
    EXPECT_EQ(rules.decide(question("smtp.example.org", 25)).advice,
              "only the administrator can change this: network.allow = [\"smtp.example.org:25\"] in "
              "/etc/agent-sandbox/config.toml");
    EXPECT_EQ(to_text(Decision::deny), "deny");
    EXPECT_EQ(to_text(Cause::port_floor), "port floor");
    EXPECT_EQ(to_text(Transport::udp), "udp");
}

TEST(Engine, WarnsOfEntriesWithoutEffect) {
    Engine rules = engine({.allow = user({"mail.example.org:25", "10.1.2.3", "127.0.0.0/8", "example.org"})});
    ASSERT_EQ(rules.warnings().size(), 3u);
    EXPECT_EQ(rules.warnings()[0],
              "user:1: the entry 'mail.example.org:25' has no effect: port 25 is closed (mail in "
              "the name of the account "
              "(SMTP)), and only the administrator can change this");
    EXPECT_NE(rules.warnings()[1].find("network.private opens it"), std::string::npos);
    EXPECT_EQ(rules.warnings()[2].find("network.private"), std::string::npos);
    EXPECT_TRUE(engine({.allow = admin({"mail.example.org:25"}) + user({"0.0.0.0/0", "10.20.1.0/24"}),
                        .private_networks = user({"10.20.0.0/16"})})
                    .warnings()
                    .empty());
}

TEST(Engine, RefusesToBeMadeOfWhatItCantRead) {
    auto refusal = [](const EngineSettings& settings) {
        auto made = Engine::make(settings);
        return made.ok() ? "" : made.error().where;
    };
    EXPECT_EQ(refusal({.block = user({"a b"})}), "user:1");
    EXPECT_EQ(refusal({.allow = admin({"*.com"})}), "administrator:1");
    EXPECT_EQ(refusal({.allow = user({"@nothing-like-it"})}), "user:1");
    EXPECT_EQ(refusal({.private_networks = user({"127.0.0.0/8"})}), "user:1");
}

}  // namespace
}  // namespace network
