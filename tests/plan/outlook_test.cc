// SPDX-License-Identifier: MIT
// The levels that doctor predicts are the levels that a plan reports.
#include "plan/print/print.h"

#include <algorithm>

#include "plan/case.h"

namespace {

using policy::Level;

// The caller must keep the string: a case only refers to its texts.
std::string settings_for(const std::string& backend) {
    return "[isolation]\nbackend = \"" + backend +
           "\"\nrequire = \"absent\"\n[network]\nmail_block = \"on\"\n";
}

test::Case case_of(const std::string& settings) {
    test::Case example;
    example.toml.user = settings;
    example.machine = [](host::Facts& facts) {
        facts.landlock_abi = 7;
        facts.can_answer_calls = true;
        facts.firejail = {.state = host::ProgramState::usable,
                          .path = base::Path::known("/usr/bin/firejail"),
                          .is_setuid = true};
    };
    return example;
}

class BackendReportOf : public testing::TestWithParam<const char*> {};

TEST_P(BackendReportOf, EachControlIsWhatAPlanReaches) {
    const std::string settings = settings_for(GetParam());
    test::Case example = case_of(settings);
    auto plan = test::planned(example);
    ASSERT_TRUE(plan) << plan.error().line();
    host::Facts facts;
    example.machine(facts);
    facts.bwrap = {.state = host::ProgramState::usable, .path = base::Path::known("/usr/bin/bwrap")};
    std::vector<plan::Outlook> outlooks = plan::outlooks(facts);
    auto outlook = std::ranges::find(outlooks, std::string_view(GetParam()),
                                     [](const plan::Outlook& each) { return each.backend->name(); });
    ASSERT_NE(outlook, outlooks.end());
    EXPECT_FALSE(outlook->obstacle) << *outlook->obstacle;
    for (const plan::Control& control : plan->controls) {
        auto reached = std::ranges::find(outlook->controls, control.name, &plan::Reached::control);
        ASSERT_NE(reached, outlook->controls.end()) << control.name;
        EXPECT_EQ(reached->level, control.level) << control.name << ": " << control.detail;
    }
}

INSTANTIATE_TEST_SUITE_P(Each, BackendReportOf, testing::Values("native", "bwrap", "firejail", "landlock"));

TEST(BackendReport, AMachineWithNothingHasAnObstacleForEach) {
    host::Facts facts;
    facts.kernel = "4.18.0";
    facts.native_obstacle = "no open_tree";
    for (const plan::Outlook& outlook : plan::outlooks(facts)) {
        EXPECT_TRUE(outlook.obstacle) << outlook.backend->name();
        EXPECT_TRUE(outlook.modes.empty()) << "modes of what does not work mislead";
    }
}

TEST(BackendReport, ASetUidBubblewrapTakesNothingFromUs) {
    host::Facts facts;
    facts.bwrap = {
        .state = host::ProgramState::usable, .path = base::Path::known("/usr/bin/bwrap"), .is_setuid = true};
    std::vector<plan::Outlook> outlooks = plan::outlooks(facts);
    EXPECT_EQ(outlooks[0].backend->id, base::Backend::native);
    EXPECT_EQ(outlooks[0].modes.size(), 4u);
    EXPECT_EQ(outlooks[1].backend->id, base::Backend::bwrap);
    EXPECT_EQ(outlooks[1].modes.size(), 2u) << "open and isolated";
}

TEST(BackendReport, WithoutAnswersNoFilteredNetworkIsPromised) {
    host::Facts facts;
    facts.landlock_abi = 5;
    for (const plan::Outlook& outlook : plan::outlooks(facts)) {
        if (outlook.backend->id != base::Backend::landlock) continue;
        EXPECT_EQ(outlook.modes.size(), 2u);
        auto processes = std::ranges::find(outlook.controls, "processes", &plan::Reached::control);
        EXPECT_EQ(processes->level, Level::absent) << "signals get out before ABI 6";
    }
}

}  // namespace
