// SPDX-License-Identifier: MIT
// network.ask and network.observe: which requests become a question, which are allowed, and which stay closed
// whatever the user sets.
#include <gtest/gtest.h>

#include "rules/engine_helpers.h"

namespace network {
namespace {

HostName name(std::string_view text) {
    return *HostName::parse(text);
}

EngineSettings asking(NetworkMode mode) {
    return {.mode = mode,
            .block = user({"bad.example", "half.example:443"}),
            .allow = user({"good.example", "shell.example:22"}),
            .is_asking = true,
            .udp = user({"time.example:123"})};
}

TEST(AskMode, IsAboutNamesThatNoRuleDecides) {
    for (NetworkMode mode : {NetworkMode::filtered, NetworkMode::proxied}) {
        Engine rules = engine(asking(mode));
        Verdict verdict = rules.decide(question("new.example"));
        EXPECT_EQ(verdict.decision, Decision::ask);
        EXPECT_FALSE(verdict.is_allowed());
        EXPECT_EQ(verdict.cause, Cause::ask);
        EXPECT_EQ(verdict.change, "--allow-host new.example");
        EXPECT_EQ(rules.decide(question("good.example")).decision, Decision::allow);
        EXPECT_EQ(rules.decide(question("bad.example")).decision, Decision::deny);
        EXPECT_EQ(rules.decide(question("shell.example", 22)).decision, Decision::allow);
        EXPECT_EQ(rules.decide(question("shell.example", 443)).decision, Decision::ask);
    }
}

TEST(AskMode, IsNeverAboutAddressesUdpListsAndFloors) {
    for (NetworkMode mode : {NetworkMode::filtered, NetworkMode::proxied}) {
        Engine rules = engine(asking(mode));
        for (const Question& never :
             {question("192.0.2.1"), question("10.1.2.3"), question("new.example", 25),
              question("new.example", 443, Transport::udp), question("pastebin.com"),
              question("host.agent-sandbox.internal", 5432), question("169.254.169.254", 80)})
            EXPECT_EQ(rules.decide(never).decision, Decision::deny);
    }
    for (NetworkMode mode : {NetworkMode::open, NetworkMode::isolated})
        EXPECT_NE(engine(asking(mode)).decide(question("new.example")).decision, Decision::ask);
}

// A name is looked up only if a rule opens some port of it.
TEST(AskMode, HoldsBackTheLookup) {
    for (NetworkMode mode : {NetworkMode::filtered, NetworkMode::proxied}) {
        Engine rules = engine(asking(mode));
        EXPECT_EQ(rules.decide_lookup(name("new.example")).decision, Decision::ask);
        EXPECT_EQ(rules.decide_lookup(name("half.example")).decision, Decision::ask);
        EXPECT_EQ(rules.decide_lookup(name("good.example")).decision, Decision::allow);
        EXPECT_EQ(rules.decide_lookup(name("shell.example")).decision, Decision::allow);
        EXPECT_EQ(rules.decide_lookup(name("time.example")).decision, Decision::allow);
        EXPECT_EQ(rules.decide_lookup(name("bad.example")).decision, Decision::deny);
        Address address = *Address::parse("203.0.113.1");
        EXPECT_EQ(rules.decide_address(name("new.example"), address).decision, Decision::ask);
        EXPECT_EQ(rules.decide_resolved(name("new.example"), address, 443).decision, Decision::ask);
        EXPECT_EQ(rules.decide_resolved(name("good.example"), address, 443).decision, Decision::allow);
    }
}

TEST(AskMode, AnAnswerIsARule) {
    EngineSettings settings = asking(NetworkMode::proxied);
    settings.allow = settings.allow + user({"new.example:443"});
    Engine rules = engine(settings);
    EXPECT_TRUE(opens(rules, "new.example", 443));
    EXPECT_EQ(rules.decide(question("new.example", 8443)).decision, Decision::ask);
}

EngineSettings observing(NetworkMode mode) {
    return {.mode = mode,
            .block = user({"bad.example", "203.0.113.0/24"}) + admin({"worse.example"}),
            .is_asking = true,
            .is_observing = true};
}

TEST(ObserveMode, LetsThroughAndSaysWhatWouldHaveBeen) {
    Engine rules = engine(observing(NetworkMode::proxied));
    Verdict verdict = rules.decide(question("new.example"));
    EXPECT_TRUE(verdict.is_allowed());
    EXPECT_TRUE(verdict.is_observed);
    EXPECT_EQ(verdict.cause, Cause::mode);
    EXPECT_EQ(verdict.change, "--allow-host new.example");
    verdict = rules.decide(question("bad.example"));
    EXPECT_TRUE(verdict.is_observed);
    EXPECT_EQ(verdict.rule, "bad.example");
    EXPECT_EQ(verdict.origin.layer, Layer::user);
    EXPECT_EQ(verdict.change, "network.allow = [\"bad.example:443\"]");
    for (const Question& closed :
         {question("pastebin.com"), question("192.0.2.1"), question("time.example", 123, Transport::udp)})
        EXPECT_TRUE(rules.decide(closed).is_observed);
    EXPECT_TRUE(rules.decide_lookup(name("bad.example")).is_allowed());
}

TEST(ObserveMode, SaysWhatAnAddressAdds) {
    Engine rules = engine(observing(NetworkMode::filtered));
    EXPECT_FALSE(rules.decide(question("good.example")).is_observed);
    Verdict verdict = rules.decide_resolved(name("good.example"), *Address::parse("203.0.113.7"), 443);
    EXPECT_TRUE(verdict.is_allowed() && verdict.is_observed);
    EXPECT_EQ(verdict.rule, "203.0.113.0/24");
}

TEST(ObserveMode, LiftsNoFloorAndNothingOfTheAdministrators) {
    for (NetworkMode mode : {NetworkMode::filtered, NetworkMode::proxied}) {
        Engine rules = engine(observing(mode));
        for (const Question& closed :
             {question("worse.example"), question("new.example", 25), question("10.1.2.3"),
              question("169.254.169.254", 80), question("host.agent-sandbox.internal", 5432)}) {
            EXPECT_FALSE(rules.decide(closed).is_allowed());
            EXPECT_FALSE(rules.decide(closed).is_observed);
        }
        EXPECT_FALSE(
            rules.decide_resolved(name("good.example"), *Address::parse("10.1.2.3"), 443).is_allowed());
    }
    EXPECT_FALSE(opens(engine(observing(NetworkMode::isolated)), "new.example"));
}

// If the administrator set the mode or closed literal addresses, a refusal is not caused by the user's
// settings alone, so observing does not open it.
TEST(ObserveMode, DoesNotOpenAModeOfTheAdministrators) {
    EngineSettings settings = observing(NetworkMode::proxied);
    settings.mode_origin = {.layer = Layer::admin};
    Engine rules = engine(settings);
    for (const Question& closed : {question("new.example"), question("bad.example"), question("192.0.2.1"),
                                   question("time.example", 123, Transport::udp)})
        EXPECT_FALSE(rules.decide(closed).is_allowed());
    settings = observing(NetworkMode::filtered);
    settings.literals_origin = {.layer = Layer::admin};
    EXPECT_FALSE(opens(engine(settings), "192.0.2.1"));
    settings.literals_origin = {.layer = Layer::user};
    EXPECT_TRUE(opens(engine(settings), "192.0.2.1")) << "the control";
}

TEST(Changes, AreTheSmallestThatHelp) {
    struct Row {
        Question asked;
        const char* change;
    };
    Engine rules = engine(
        {.mode = NetworkMode::proxied,
         .block = user({"*.wide.example", "bad.example", "port.example:443"}) + admin({"worse.example"})});
    for (const Row& row : std::initializer_list<Row>{
             {question("new.example"), "--allow-host new.example"},
             {question("pastebin.com"), "--allow-host pastebin.com"},
             {question("a.wide.example"), "--allow-host a.wide.example"},
             {question("bad.example", 8443), "network.allow = [\"bad.example:8443\"]"},
             {question("port.example"), ""},
             {question("worse.example"), ""},
             {question("new.example", 25), ""},
             {question("10.1.2.3"), "network.private = [\"10.1.2.3\"]"},
             {question("169.254.169.254"), ""},
             {question("192.0.2.1"), "network.allow = [\"192.0.2.1\"]"},
             {question("new.example", 53, Transport::udp), "network.allow = [\"udp:new.example:53\"]"},
             {question("host.agent-sandbox.internal", 8080), "--host-port 8080"}}) {
        Verdict verdict = rules.decide(row.asked);
        EXPECT_FALSE(verdict.is_allowed());
        EXPECT_EQ(verdict.change, row.change);
    }
}

// A proposed change helps: with that entry the same request is allowed.
TEST(Changes, Help) {
    EngineSettings settings{.mode = NetworkMode::proxied, .block = user({"*.wide.example", "bad.example"})};
    for (const Question& asked : {question("new.example"), question("pastebin.com"),
                                  question("a.wide.example"), question("bad.example", 8443)}) {
        std::string change = engine(settings).decide(asked).change;
        constexpr std::string_view kFlag = "--allow-host ";
        size_t quote = change.find('"');
        std::string entry = change.starts_with(kFlag)
                                ? change.substr(kFlag.size())
                                : change.substr(quote + 1, change.rfind('"') - quote - 1);
        EngineSettings changed = settings;
        changed.allow.push_back({entry, config::from_flag("--allow-host")});
        EXPECT_TRUE(engine(changed).decide(asked).is_allowed()) << change;
    }
}

}  // namespace
}  // namespace network
