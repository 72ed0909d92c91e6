// SPDX-License-Identifier: MIT
#include "selftest/runner.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <cstdlib>

namespace selftest {
namespace {

Finding finding_of(std::function<Finding(const World&)> attempt) {
    Probe probe{.name = "files/x", .what = "does something", .attempt = std::move(attempt)};
    return run_probe(probe, World{.secret = "s"});
}

TEST(Runner, ReportsComeBackAsTheyWere) {
    for (Finding::Kind kind :
         {Finding::Kind::escaped, Finding::Kind::held, Finding::Kind::absent, Finding::Kind::broken}) {
        Report report{"files/x", {kind, "a \"detail\"\nwith a line"}};
        std::string line = encode(report);
        EXPECT_EQ(line.find('\n'), line.size() - 1);
        base::Result<Report> decoded = decode(line);
        ASSERT_TRUE(decoded);
        EXPECT_EQ(decoded->probe, report.probe);
        EXPECT_EQ(decoded->finding, report.finding);
    }
}

TEST(Runner, WhatIsNoReportIsRefused) {
    for (std::string_view line :
         {"", "held", "[]", "{}", R"({"probe":"files/x","kind":"fine"})", R"({"kind":"held"})"}) {
        EXPECT_FALSE(decode(line)) << line;
    }
}

TEST(Runner, AVeryLongDetailIsCutOff) {
    base::Result<Report> report =
        decode(encode({"files/x", {Finding::Kind::held, std::string(100'000, 'x')}}));
    ASSERT_TRUE(report);
    EXPECT_LT(report->finding.detail.size(), 1000u);
}

TEST(Runner, AProbeThatEscapesSaysSo) {
    EXPECT_EQ(finding_of([](const World&) { return escaped("out"); }), escaped("out"));
}

TEST(Runner, AProbeCannotHurtTheOthers) {
    Finding finding = finding_of([](const World&) -> Finding { std::_Exit(3); });
    EXPECT_EQ(finding.kind, Finding::Kind::broken);
    finding = finding_of([](const World&) -> Finding {
        ::raise(SIGKILL);
        return held("never");
    });
    EXPECT_EQ(finding.kind, Finding::Kind::broken);
}

TEST(Runner, DeathByTheFilterIsARefusal) {
    Finding finding = finding_of([](const World&) -> Finding {
        ::raise(SIGSYS);
        return escaped("never");
    });
    EXPECT_EQ(finding.kind, Finding::Kind::held);
}

TEST(Runner, AProbeThatHangsIsNoPass) {
    Finding finding = finding_of([](const World&) -> Finding {
        // The limit is an alarm of two seconds; raise the signal now instead of waiting.
        ::raise(SIGALRM);
        return held("never");
    });
    EXPECT_EQ(finding.kind, Finding::Kind::broken);
    EXPECT_EQ(finding.detail, "did not end in time");
}

TEST(ProbeWorld, TravelsWhole) {
    World world{.secret = "s", .root = "/r", .home = "/r/h", .address = "192.0.2.1"};
    world.process = 42;
    world.is_inside = 1;
    base::Result<World> arrived = world_from_json(to_json(world).dump(-1));
    ASSERT_TRUE(arrived);
    EXPECT_EQ(to_json(*arrived).dump(-1), to_json(world).dump(-1));
    EXPECT_EQ(arrived->process, 42);
    EXPECT_FALSE(world_from_json("{}"));
    EXPECT_FALSE(world_from_json("nonsense"));
}

}  // namespace
}  // namespace selftest
