// SPDX-License-Identifier: MIT
#include "selftest/judgement.h"

#include <gtest/gtest.h>

#include "selftest/runner.h"

namespace selftest {
namespace {

Probe probe_named(std::string name) {
    return {.name = std::move(name), .what = "does something", .attempt = [](const World&) {
                return held("never");
            }};
}

const Jailed kJail{.backend = base::Backend::bwrap, .landlock = 7};

TEST(SelftestVerdict, ARefusalBesideAWorkingControlIsAPass) {
    Probe probe = probe_named("files/x");
    Judgement judgement = judge(probe, {.outside = escaped("done"), .inside = held("ENOENT")}, kJail);
    EXPECT_EQ(judgement.result, ProbeResult::held);
    EXPECT_EQ(judgement.detail, "ENOENT");
    EXPECT_EQ(judgement.no_control, "");
}

TEST(SelftestVerdict, AnEscapeIsAnEscapeWhateverTheControlSays) {
    Probe probe = probe_named("files/x");
    for (const Finding& outside : {escaped("done"), held("EPERM"), absent("nothing here")}) {
        EXPECT_EQ(judge(probe, {.outside = outside, .inside = escaped("done")}, kJail).result,
                  ProbeResult::escaped);
    }
    EXPECT_EQ(judge(probe, {.outside = std::nullopt, .inside = escaped("done")}, kJail).result,
              ProbeResult::escaped);
}

TEST(SelftestVerdict, APassWithoutAControlIsAnError) {
    Probe probe = probe_named("files/x");
    EXPECT_EQ(judge(probe, {.outside = std::nullopt, .inside = held("ENOENT")}, kJail).result,
              ProbeResult::error);
    EXPECT_EQ(judge(probe, {.outside = held("EPERM"), .inside = held("ENOENT")}, kJail).result,
              ProbeResult::error);
    Finding crashed{Finding::Kind::broken, "ended without a word"};
    EXPECT_EQ(judge(probe, {.outside = crashed, .inside = held("ENOENT")}, kJail).result, ProbeResult::error);
}

TEST(SelftestVerdict, AnExcusedControlIsToldWithItsReason) {
    Probe probe = probe_named("files/x");
    probe.excuse = "needs root";
    Judgement judgement = judge(probe, {.outside = held("EPERM"), .inside = held("EPERM")}, kJail);
    EXPECT_EQ(judgement.result, ProbeResult::held);
    EXPECT_EQ(judgement.no_control, "needs root: EPERM");
}

TEST(SelftestVerdict, AnExcuseDoesNotCoverACrash) {
    Probe probe = probe_named("files/x");
    probe.excuse = "needs root";
    Finding crashed{Finding::Kind::broken, "ended without a word"};
    EXPECT_EQ(judge(probe, {.outside = crashed, .inside = held("EPERM")}, kJail).result, ProbeResult::error);
    EXPECT_EQ(judge(probe, {.outside = held("EPERM"), .inside = crashed}, kJail).result, ProbeResult::error);
}

TEST(SelftestVerdict, WhatThisHostHasNotIsNotTried) {
    Probe probe = probe_named("files/x");
    Judgement judgement = judge(probe, {.outside = absent("no IPv6"), .inside = absent("no IPv6")}, kJail);
    EXPECT_EQ(judgement.result, ProbeResult::not_tried);
    EXPECT_EQ(judgement.detail, "no IPv6");
}

TEST(SelftestVerdict, AProbeThatIsNotHeardOfIsAnError) {
    Probe probe = probe_named("files/x");
    EXPECT_EQ(judge(probe, {.outside = escaped("done"), .inside = std::nullopt}, kJail).result,
              ProbeResult::error);
}

TEST(SelftestVerdict, AJailThatTheAdministratorForbidsIsNotTried) {
    Probe probe = probe_named("files/x");
    Judgement judgement = judge(probe, {}, {.refusal = "the ceiling forbids it"});
    EXPECT_EQ(judgement.result, ProbeResult::not_tried);
}

TEST(SelftestVerdict, WhatASettingPermitsIsNoEscape) {
    Probe probe = probe_named("files/x");
    probe.permitted_by = "isolation.private_tmp=false";
    policy::Effective settings;
    settings.values = policy::builtin_values();
    Jailed jail{.backend = base::Backend::bwrap, .landlock = 7, .settings = &settings};
    Findings findings{.outside = escaped("done"), .inside = escaped("done")};
    EXPECT_EQ(judge(probe, findings, jail).result, ProbeResult::escaped);
    settings.values.at("isolation.private_tmp").text = "false";
    EXPECT_EQ(judge(probe, findings, jail).result, ProbeResult::permitted);
    EXPECT_NE(judge(probe, findings, jail).detail.find("isolation.private_tmp = false"), std::string::npos);
}

TEST(SelftestVerdict, AKnownLimitCountsOnlyForItsBackendAndItsKernel) {
    const Exception& limit = exceptions().front();
    Probe probe = probe_named(std::string(limit.probe));
    Findings findings{.outside = escaped("done"), .inside = escaped("done")};
    Jailed old{.backend = limit.backend, .landlock = limit.below_landlock - 1, .has_own_sockets = false};
    EXPECT_EQ(judge(probe, findings, old).result, ProbeResult::expected);
    Jailed recent = old, apart = old;
    recent.landlock = limit.below_landlock;
    EXPECT_EQ(judge(probe, findings, recent).result, ProbeResult::escaped);
    apart.has_own_sockets = true;
    EXPECT_EQ(judge(probe, findings, apart).result, ProbeResult::escaped);
    EXPECT_EQ(judge(probe, findings, {.backend = base::Backend::landlock}).result, ProbeResult::escaped);
}

TEST(SelftestVerdict, ALimitOfASetUidProgramCountsOnlyForOne) {
    Probe probe = probe_named("namespaces/shared-user");
    Findings findings{.outside = escaped("done"), .inside = escaped("done")};
    EXPECT_EQ(judge(probe, findings, kJail).result, ProbeResult::escaped);
    Jailed set_uid = kJail;
    set_uid.is_set_uid = true;
    EXPECT_EQ(judge(probe, findings, set_uid).result, ProbeResult::expected);
}

TEST(Totals, OneEscapeOrOneErrorSpoilsTheWhole) {
    Probe probe = probe_named("files/x");
    std::vector<Judgement> judgements(3, Judgement{.probe = &probe, .result = ProbeResult::held});
    EXPECT_TRUE(is_sound(add_up(judgements)));
    judgements[1].result = ProbeResult::escaped;
    EXPECT_FALSE(is_sound(add_up(judgements)));
    judgements[1].result = ProbeResult::error;
    EXPECT_FALSE(is_sound(add_up(judgements)));
    for (ProbeResult harmless : {ProbeResult::permitted, ProbeResult::expected, ProbeResult::not_tried}) {
        judgements[1].result = harmless;
        EXPECT_TRUE(is_sound(add_up(judgements)));
    }
}

// Threat: a file that was not planted can't be found, so its absence would count as held.
TEST(SelftestVerdict, WhatNeedsAFileThatWasNotPlantedIsNotTried) {
    World world;
    world.left_out = "|.netrc|notes|";
    Jailed jail = kJail;
    jail.world = &world;
    Probe probe = probe_named("files/x");
    probe.attempt = [](const World&) { return escaped("done"); };
    const Findings findings{.outside = escaped("done"), .inside = held("ENOENT")};
    for (std::string_view path : {"", "netrc", ".netr", "note"}) {
        probe.planted = path;
        EXPECT_EQ(judge(probe, findings, jail).result, ProbeResult::held) << path;
        EXPECT_EQ(run_probe(probe, world), escaped("done")) << path;
    }
    probe.planted = ".netrc";
    EXPECT_EQ(judge(probe, findings, jail).result, ProbeResult::not_tried);
    EXPECT_EQ(judge(probe, findings, jail).detail, "~/.netrc is the user's own");
    EXPECT_EQ(run_probe(probe, world).kind, Finding::Kind::absent);
}

TEST(SelftestVerdict, ARequestIsNotTriedWhereConnectionsAreNotDecrypted) {
    const Probe probe{.name = "credentials/path", .what = "", .attempt = {}, .needs_interception = true};
    const Findings findings{.outside = escaped("reached"), .inside = absent("not decrypted")};
    EXPECT_EQ(judge(probe, findings, {}).result, ProbeResult::not_tried);
    const Findings tried{.outside = escaped("reached"), .inside = held("outside_the_binding")};
    EXPECT_EQ(judge(probe, tried, {.intercepts = true}).result, ProbeResult::held);
    const Findings broke{.outside = escaped("reached"), .inside = escaped("reached")};
    EXPECT_EQ(judge(probe, broke, {.intercepts = true}).result, ProbeResult::escaped);
}

}  // namespace
}  // namespace selftest
