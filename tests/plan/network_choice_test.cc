// SPDX-License-Identifier: MIT
#include "plan/network/network.h"

#include <gtest/gtest.h>

#include "plan/backend.h"
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

// ---- Abstract Unix sockets

using plan::AbstractSockets;

bool is_told(const plan::Plan& plan) {
    return std::ranges::any_of(plan.notes, [](const plan::Note& note) {
        return note.kind == plan::NoteKind::protection &&
               note.text.find("abstract Unix sockets") != std::string::npos;
    });
}

plan::Plan planned_open(std::string_view backend, void (*machine)(host::Facts&)) {
    std::string settings = "network.mode = 'open'\nisolation.backend = '" + std::string(backend) +
                           "'\nisolation.require = 'absent'";
    test::Case example{.toml = {.user = settings}};
    example.machine = machine;
    auto plan = test::planned(example);
    EXPECT_TRUE(plan) << plan.error().line();
    return plan ? *std::move(plan) : plan::Plan();
}

TEST(AbstractSockets, StayInsideWhereANamespaceCanBeMadeForThem) {
    for (std::string_view backend : {"native", "bwrap"}) {
        plan::Plan plan = planned_open(backend, nullptr);
        EXPECT_EQ(plan.network.abstract_sockets, AbstractSockets::inside);
        EXPECT_FALSE(is_told(plan));
    }
}

TEST(AbstractSockets, AreSharedAndToldWhereNothingCanBeDone) {
    for (auto machine : {+[](host::Facts& facts) { facts.kernel = "5.8.0-63-generic"; },
                         +[](host::Facts& facts) { facts.bwrap.is_setuid = true; },
                         +[](host::Facts& facts) { facts.native_obstacle = "AppArmor closes it; ask"; }}) {
        plan::Plan plan = planned_open("bwrap", machine);
        EXPECT_EQ(plan.network.abstract_sockets, AbstractSockets::shared);
        EXPECT_TRUE(is_told(plan));
    }
    plan::Plan plan = planned_open("firejail", [](host::Facts& facts) {
        facts.firejail = {.state = host::ProgramState::usable,
                          .path = base::Path::known("/usr/bin/firejail")};
    });
    EXPECT_EQ(plan.network.abstract_sockets, AbstractSockets::shared);
    EXPECT_TRUE(is_told(plan));
}

TEST(AbstractSockets, AreRefusedWhereTheStageAnswers) {
    plan::Plan plan = planned_open("firejail", [](host::Facts& facts) {
        facts.firejail = {.state = host::ProgramState::usable,
                          .path = base::Path::known("/usr/bin/firejail")};
        facts.can_answer_calls = true;
    });
    EXPECT_EQ(plan.network.abstract_sockets, AbstractSockets::refused);
    plan = planned_open("landlock",
                        [](host::Facts& facts) { facts.landlock_abi = 7, facts.can_answer_calls = true; });
    EXPECT_EQ(plan.network.abstract_sockets, AbstractSockets::refused);
    EXPECT_FALSE(is_told(plan));
}

}  // namespace
