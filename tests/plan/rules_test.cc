// SPDX-License-Identifier: MIT
#include "plan/rules.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace {

using base::Path;
using config::Layer;
using plan::Access;
using plan::PathRule;

PathRule rule(const char* path, Access access, Layer layer = Layer::user) {
    return {.path = Path::known(path),
            .access = access,
            .reason = {"test", {.layer = layer, .file = "f", .line = 1}}};
}

std::string decided(const plan::Rules& rules, const char* path) {
    const PathRule* found = rules.decide(Path::known(path));
    return found ? std::string(plan::to_text(found->access)) : "absent";
}

TEST(Rules, TheMostSpecificPathWinsInEitherOrder) {
    for (bool is_reversed : {false, true}) {
        plan::Rules rules;
        std::vector<PathRule> all{rule("/a", Access::readonly), rule("/a/b", Access::hidden),
                                  rule("/a/b/c", Access::writable)};
        if (is_reversed) std::ranges::reverse(all);
        for (PathRule& one : all) rules.add(one);
        ASSERT_TRUE(rules.settle());
        EXPECT_EQ(decided(rules, "/a/x"), "readonly");
        EXPECT_EQ(decided(rules, "/a/b/x"), "hidden");
        EXPECT_EQ(decided(rules, "/a/b/c/x"), "writable");
        EXPECT_EQ(decided(rules, "/ab"), "absent");
    }
}

TEST(Rules, DenyWinsTies) {
    plan::Rules rules;
    rules.add(rule("/a", Access::writable, Layer::builtin));
    rules.add(rule("/a", Access::readonly));
    rules.add(rule("/a", Access::hidden));
    EXPECT_FALSE(rules.settle()) << "a user's own grant without effect must be said";

    plan::Rules builtin;
    builtin.add(rule("/a", Access::writable, Layer::builtin));
    builtin.add(rule("/a", Access::hidden));
    ASSERT_TRUE(builtin.settle());
    EXPECT_EQ(decided(builtin, "/a"), "hidden");
}

// A protection prevents writes, and so does a mask.
TEST(Rules, AProtectionIsNotLostWhereSomethingStricterIs) {
    for (Access stricter : {Access::masked, Access::hidden}) {
        plan::Rules rules;
        PathRule protection = rule("/a/.env", Access::readonly);
        protection.holds_name = true;
        rules.add(protection);
        rules.add(rule("/a/.env", stricter, Layer::builtin));
        ASSERT_TRUE(rules.settle());
        EXPECT_EQ(decided(rules, "/a/.env"), plan::to_text(stricter));
    }
    plan::Rules rules;
    PathRule protection = rule("/data/x", Access::readonly);
    protection.holds_name = true;
    rules.add(protection);
    rules.add(rule("/data", Access::hidden, Layer::admin));
    ASSERT_TRUE(rules.settle());
    EXPECT_EQ(decided(rules, "/data/x"), "hidden");
}

TEST(Rules, NothingOpensWhatTheAdministratorHides) {
    plan::Rules rules;
    rules.add(rule("/data", Access::hidden, Layer::admin));
    rules.add(rule("/data/x", Access::readonly, Layer::command_line));
    auto settled = rules.settle();
    ASSERT_FALSE(settled);
    EXPECT_NE(settled.error().line().find("/data/x"), std::string::npos);
}

TEST(Rules, TheAdministratorMayOpenInsideTheOwnHide) {
    plan::Rules rules;
    rules.add(rule("/data", Access::hidden, Layer::admin));
    rules.add(rule("/data/public", Access::readonly, Layer::admin));
    ASSERT_TRUE(rules.settle());
    EXPECT_EQ(decided(rules, "/data/public/x"), "readonly");
    EXPECT_EQ(decided(rules, "/data/private"), "hidden");
}

TEST(Rules, AHideTakesBuiltInGrantsBelowItAlong) {
    plan::Rules rules;
    rules.add(rule("/home/ann/.cargo/bin", Access::readonly, Layer::builtin));
    rules.add(rule("/home/ann/.cargo", Access::hidden));
    ASSERT_TRUE(rules.settle());
    EXPECT_EQ(decided(rules, "/home/ann/.cargo/bin/x"), "hidden");
}

TEST(Rules, ABuiltInHideDoesNotCloseWhatAPersonNamesInsideIt) {
    plan::Rules rules;
    rules.add(rule("/home/ann/.ssh", Access::hidden, Layer::builtin));
    rules.add(rule("/home/ann/.ssh/known_hosts", Access::readonly));
    ASSERT_TRUE(rules.settle());
    EXPECT_EQ(decided(rules, "/home/ann/.ssh/known_hosts"), "readonly");
    EXPECT_EQ(decided(rules, "/home/ann/.ssh/id_ed25519"), "hidden");
}

}  // namespace
