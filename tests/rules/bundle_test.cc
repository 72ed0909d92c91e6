// SPDX-License-Identifier: MIT
#include "rules/bundle.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace network {
namespace {

config::Item item(std::string text) {
    return {std::move(text), {.layer = config::Layer::user, .file = "config.toml", .line = 3}};
}

TEST(RulesOf, GivesOneRuleForAPlainEntry) {
    auto rules = rules_of(item("example.org"), Side::block);
    ASSERT_TRUE(rules.ok());
    ASSERT_EQ(rules->size(), 1u);
    EXPECT_EQ(rules->front().side, Side::block);
    EXPECT_EQ(rules->front().origin.describe(), "config.toml:3");
}

TEST(RulesOf, ExpandsABundleWithTheOriginOfTheEntry) {
    auto rules = rules_of(item("@github"), Side::allow);
    ASSERT_TRUE(rules.ok());
    auto found = std::ranges::find(*rules, "api.github.com", &Rule::name);
    ASSERT_NE(found, rules->end());
    EXPECT_EQ(found->bundle, "github");
    EXPECT_EQ(found->origin.describe(), "config.toml:3");
    EXPECT_FALSE(found->reason.empty());
}

TEST(RulesOf, FollowsBundlesInBundles) {
    auto rules = rules_of(item("@pip"), Side::allow);
    ASSERT_TRUE(rules.ok());
    EXPECT_NE(std::ranges::find(*rules, "pypi.org", &Rule::name), rules->end());
}

TEST(RulesOf, PrefersWhatTheClientIsConfiguredFor) {
    auto rules = rules_of(item("@npm"), Side::allow, {{"npm", {"npm.mirror.example"}}});
    ASSERT_TRUE(rules.ok());
    ASSERT_EQ(rules->size(), 1u) << "the shipped hosts are not opened beside the mirror";
    EXPECT_EQ(rules->front().name, "npm.mirror.example");
    EXPECT_TRUE(rules_of(item("@site"), Side::allow, {{"site", {"a.example.org"}}}).ok());
}

TEST(RulesOf, EndsACircle) {
    std::vector<Bundle> circle = {{"a", {"@b"}}, {"b", {"@a"}}};
    EXPECT_FALSE(rules_of(item("@a"), Side::allow, circle).ok());
}

TEST(RulesOf, NamesTheNearestBundleAndTheLine) {
    auto rules = rules_of(item("@gihub"), Side::allow);
    ASSERT_FALSE(rules.ok());
    EXPECT_EQ(rules.error().line(),
              "config.toml:3: there is no bundle '@gihub'; '@github' was probably meant");
    EXPECT_EQ(rules_of(item("@zzzzzzzzzzzz"), Side::allow).error().advice, "name the hosts");
    for (const char* text : {"@", "@../network/bundles", "@GitHub", "@github:443", "udp:@github"}) {
        EXPECT_FALSE(rules_of(item(text), Side::allow).ok()) << text;
    }
}

TEST(RulesOf, NamesTheLineOfABadEntry) {
    EXPECT_EQ(rules_of(item("a b"), Side::allow).error().where, "config.toml:3");
    EXPECT_EQ(rules_of(item("@x"), Side::allow, {{"x", {"a b"}}}).error().where, "config.toml:3");
}

}  // namespace
}  // namespace network
