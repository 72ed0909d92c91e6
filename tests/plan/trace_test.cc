// SPDX-License-Identifier: MIT
#include <algorithm>

#include "plan/case.h"
#include "plan/print/print.h"

namespace {

constexpr std::string_view kAll = "[trace]\nfiles = true\ncommands = true\nsystem_calls = true\n";

void only_landlock(host::Facts& facts) {
    facts.landlock_abi = 7;
    facts.can_answer_calls = true;
}

TEST(Trace, IsOffUnlessAskedFor) {
    auto plan = test::planned({});
    ASSERT_TRUE(plan.ok()) << plan.error().line();
    EXPECT_FALSE(plan->trace.is_wanted());
    EXPECT_FALSE(plan->second_wall.is_logged);
    EXPECT_EQ(plan::to_text(*plan).find("\ntraced"), std::string::npos);
}

TEST(Trace, IsWhatTheSettingsSay) {
    auto plan = test::planned({.toml = {.user = std::string(kAll)}});
    ASSERT_TRUE(plan.ok()) << plan.error().line();
    EXPECT_EQ(plan->trace, (seccomp::Trace{true, true, true}));
    EXPECT_TRUE(plan->second_wall.is_logged);
    EXPECT_NE(plan::to_text(*plan).find("\ntraced"), std::string::npos);
    auto commands = test::planned({.toml = {.user = "[trace]\ncommands = true\n"}});
    ASSERT_TRUE(commands.ok()) << commands.error().line();
    EXPECT_EQ(commands->trace, (seccomp::Trace{false, true, false}));
    EXPECT_FALSE(commands->second_wall.is_logged);
}

// The doorman already uses the only listener.
TEST(Trace, IsRefusedByABackendThatAnswersCallsItself) {
    auto plan = test::planned(
        {.toml = {.user = "[isolation]\nbackend = \"landlock\"\nrequire = \"absent\"\n" + std::string(kAll)},
         .machine = only_landlock});
    ASSERT_FALSE(plan.ok());
    EXPECT_NE(plan.error().line().find("can't be traced"), std::string::npos) << plan.error().line();
    EXPECT_NE(plan.error().advice.find("--trace-commands"), std::string::npos);
}

TEST(Trace, LearningObservesFilesWhereTheKernelCan) {
    test::Case example{.toml = {.user = "[network]\nobserve = true\n"}};
    example.machine = [](host::Facts& facts) { facts.kernel = "6.1.0-18-amd64"; };
    auto plan = test::planned(example);
    ASSERT_TRUE(plan.ok()) << plan.error().line();
    EXPECT_EQ(plan->trace, (seccomp::Trace{.files = true}));

    example.machine = [](host::Facts& facts) { facts.kernel = "4.18.0-553.el8"; };
    auto old = test::planned(example);
    ASSERT_TRUE(old.ok()) << old.error().line();
    EXPECT_FALSE(old->trace.is_wanted());
    bool is_told = std::ranges::any_of(old->notes, [](const plan::Note& note) {
        return note.text.find("files that the policy closes are not observed") != std::string::npos;
    });
    EXPECT_TRUE(is_told);
}

}  // namespace
