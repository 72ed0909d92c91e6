// SPDX-License-Identifier: MIT
#include "selftest/verdict.h"

#include <gtest/gtest.h>

#include "selftest/attempt.h"

namespace selftest {
namespace {

Probe probe_named(std::string name) {
    return {.name = std::move(name), .what = "does something", .attempt = [](const World&) {
                return held("never");
            }};
}

const Jailed kJail{.backend = base::Backend::bwrap, .landlock = 7};

TEST(Verdict, ARefusalBesideAWorkingControlIsAPass) {
    Probe probe = probe_named("files/x");
    Judgement judgement = judge(probe, {.outside = escaped("done"), .inside = held("ENOENT")}, kJail);
    EXPECT_EQ(judgement.verdict, Verdict::held);
    EXPECT_EQ(judgement.detail, "ENOENT");
    EXPECT_EQ(judgement.no_control, "");
}

TEST(Verdict, AnEscapeIsAnEscapeWhateverTheControlSays) {
    Probe probe = probe_named("files/x");
    for (const Finding& outside : {escaped("done"), held("EPERM"), absent("nothing here")}) {
        EXPECT_EQ(judge(probe, {.outside = outside, .inside = escaped("done")}, kJail).verdict,
                  Verdict::escaped);
    }
    EXPECT_EQ(judge(probe, {.outside = std::nullopt, .inside = escaped("done")}, kJail).verdict,
              Verdict::escaped);
}

TEST(Verdict, APassWithoutAControlIsAnError) {
    Probe probe = probe_named("files/x");
    EXPECT_EQ(judge(probe, {.outside = std::nullopt, .inside = held("ENOENT")}, kJail).verdict,
              Verdict::error);
    EXPECT_EQ(judge(probe, {.outside = held("EPERM"), .inside = held("ENOENT")}, kJail).verdict,
              Verdict::error);
    Finding crashed{Finding::Kind::broken, "ended without a word"};
    EXPECT_EQ(judge(probe, {.outside = crashed, .inside = held("ENOENT")}, kJail).verdict, Verdict::error);
}

TEST(Verdict, AnExcusedControlIsToldWithItsReason) {
    Probe probe = probe_named("files/x");
    probe.excuse = "needs root";
    Judgement judgement = judge(probe, {.outside = held("EPERM"), .inside = held("EPERM")}, kJail);
    EXPECT_EQ(judgement.verdict, Verdict::held);
    EXPECT_EQ(judgement.no_control, "needs root: EPERM");
}

TEST(Verdict, AnExcuseDoesNotCoverACrash) {
    Probe probe = probe_named("files/x");
    probe.excuse = "needs root";
    Finding crashed{Finding::Kind::broken, "ended without a word"};
    EXPECT_EQ(judge(probe, {.outside = crashed, .inside = held("EPERM")}, kJail).verdict, Verdict::error);
    EXPECT_EQ(judge(probe, {.outside = held("EPERM"), .inside = crashed}, kJail).verdict, Verdict::error);
}

TEST(Verdict, WhatThisHostHasNotIsNotTried) {
    Probe probe = probe_named("files/x");
    Judgement judgement = judge(probe, {.outside = absent("no IPv6"), .inside = absent("no IPv6")}, kJail);
    EXPECT_EQ(judgement.verdict, Verdict::not_tried);
    EXPECT_EQ(judgement.detail, "no IPv6");
}

TEST(Verdict, AProbeThatIsNotHeardOfIsAnError) {
    Probe probe = probe_named("files/x");
    EXPECT_EQ(judge(probe, {.outside = escaped("done"), .inside = std::nullopt}, kJail).verdict,
              Verdict::error);
}

TEST(Verdict, AJailThatTheAdministratorForbidsIsNotTried) {
    Probe probe = probe_named("files/x");
    Judgement judgement = judge(probe, {}, {.refusal = "the ceiling forbids it"});
    EXPECT_EQ(judgement.verdict, Verdict::not_tried);
}

TEST(Verdict, WhatASettingPermitsIsNoEscape) {
    Probe probe = probe_named("files/x");
    probe.permitted_by = "isolation.private_tmp=false";
    policy::Effective settings;
    settings.values = policy::builtin_values();
    Jailed jail{.backend = base::Backend::bwrap, .landlock = 7, .settings = &settings};
    Findings findings{.outside = escaped("done"), .inside = escaped("done")};
    EXPECT_EQ(judge(probe, findings, jail).verdict, Verdict::escaped);
    settings.values.at("isolation.private_tmp").text = "false";
    EXPECT_EQ(judge(probe, findings, jail).verdict, Verdict::permitted);
    EXPECT_NE(judge(probe, findings, jail).detail.find("isolation.private_tmp = false"), std::string::npos);
}

TEST(Verdict, AKnownLimitCountsOnlyForItsBackendAndItsKernel) {
    const Exception& limit = exceptions().front();
    Probe probe = probe_named(std::string(limit.probe));
    Findings findings{.outside = escaped("done"), .inside = escaped("done")};
    Jailed old{.backend = limit.backend, .landlock = limit.below_landlock - 1, .has_own_sockets = false};
    EXPECT_EQ(judge(probe, findings, old).verdict, Verdict::expected);
    Jailed recent = old, apart = old;
    recent.landlock = limit.below_landlock;
    EXPECT_EQ(judge(probe, findings, recent).verdict, Verdict::escaped);
    apart.has_own_sockets = true;
    EXPECT_EQ(judge(probe, findings, apart).verdict, Verdict::escaped);
    EXPECT_EQ(judge(probe, findings, {.backend = base::Backend::landlock}).verdict, Verdict::escaped);
}

TEST(Verdict, ALimitOfASetUidProgramCountsOnlyForOne) {
    Probe probe = probe_named("namespaces/shared-user");
    Findings findings{.outside = escaped("done"), .inside = escaped("done")};
    EXPECT_EQ(judge(probe, findings, kJail).verdict, Verdict::escaped);
    Jailed set_uid = kJail;
    set_uid.is_set_uid = true;
    EXPECT_EQ(judge(probe, findings, set_uid).verdict, Verdict::expected);
}

TEST(Totals, OneEscapeOrOneErrorSpoilsTheWhole) {
    Probe probe = probe_named("files/x");
    std::vector<Judgement> judgements(3, Judgement{.probe = &probe, .verdict = Verdict::held});
    EXPECT_TRUE(is_sound(add_up(judgements)));
    judgements[1].verdict = Verdict::escaped;
    EXPECT_FALSE(is_sound(add_up(judgements)));
    judgements[1].verdict = Verdict::error;
    EXPECT_FALSE(is_sound(add_up(judgements)));
    for (Verdict harmless : {Verdict::permitted, Verdict::expected, Verdict::not_tried}) {
        judgements[1].verdict = harmless;
        EXPECT_TRUE(is_sound(add_up(judgements)));
    }
}

}  // namespace
}  // namespace selftest
