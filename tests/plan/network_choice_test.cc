// SPDX-License-Identifier: MIT
#include "plan/network/network_choice.h"

#include <gtest/gtest.h>

#include "plan/case.h"

namespace {

using policy::NetworkFallback;
using policy::NetworkMode;
using enum policy::NetworkMode;

constexpr NetworkMode kTwo[] = {open, isolated};
constexpr NetworkMode kNone[] = {open};

TEST(NetworkChoice, WhatIsOfferedIsTaken) {
    EXPECT_EQ(plan::reachable_mode(isolated, NetworkFallback::strict, kTwo), isolated);
    EXPECT_EQ(plan::reachable_mode(open, NetworkFallback::stricter, kTwo), open);
}

TEST(NetworkChoice, FallbackDecidesTheRest) {
    EXPECT_EQ(plan::reachable_mode(filtered, NetworkFallback::strict, kTwo), std::nullopt);
    EXPECT_EQ(plan::reachable_mode(filtered, NetworkFallback::stricter, kTwo), isolated);
    EXPECT_EQ(plan::reachable_mode(filtered, NetworkFallback::open, kTwo), open);
    EXPECT_EQ(plan::reachable_mode(isolated, NetworkFallback::stricter, kNone), std::nullopt);
}

TEST(NetworkChoice, AWeakerModeIsSaidAloud) {
    auto plan =
        test::planned({.toml = {.user = "[network]\nfallback = \"open\"\n[isolation]\nrequire = \"absent\""},
                       .closes_user_namespaces = true});
    ASSERT_TRUE(plan) << plan.error().line();
    EXPECT_EQ(plan->network.reached, open);
    bool is_loud = false;
    for (const plan::Note& note : plan->notes) is_loud = is_loud || note.kind == plan::NoteKind::protection;
    EXPECT_TRUE(is_loud);
}

TEST(NetworkChoice, ANamespaceThatCantBeEnteredHasNoGateway) {
    EXPECT_EQ(test::planned({})->network.reached, filtered);
    auto plan = test::planned({.closes_user_namespaces = true});
    ASSERT_TRUE(plan) << plan.error().line();
    EXPECT_EQ(plan->network.reached, isolated);
    EXPECT_FALSE(plan->network.egress.needs_gateway());
    EXPECT_FALSE(test::planned({.toml = {.user = "[network]\nmode = \"isolated\"\npublish = [\"80\"]"},
                                .closes_user_namespaces = true}));
}

TEST(NetworkChoice, MailThatCantBeClosedIsAnError) {
    EXPECT_FALSE(test::planned({.toml = {.user = "[network]\nmode = \"open\"\nmail_block = \"on\""}}));
}

}  // namespace
