// SPDX-License-Identifier: MIT
#include "cli/verbs/why_slurm.h"

#include <gtest/gtest.h>

#include "cli/arguments.h"

namespace {

using Words = std::vector<std::string>;

plan::Explanation explained(const Words& words, bool is_open = true) {
    base::Result<plan::Explanation> answer = cli::explain_slurm(plan::Slurm{.is_open = is_open}, words);
    EXPECT_TRUE(answer) << words[0];
    return answer ? *answer : plan::Explanation{};
}

TEST(WhySlurm, ARefusedOptionHasItsCodeAndReason) {
    plan::Explanation answer = explained({"sbatch", "--uid"});
    EXPECT_FALSE(answer.is_allowed);
    EXPECT_EQ(answer.subject, "sbatch --uid");
    EXPECT_NE(answer.verdict.find("slurm-identity"), std::string::npos) << answer.verdict;
    EXPECT_FALSE(answer.reason.why.empty());
    EXPECT_EQ(answer.change, "");
}

TEST(WhySlurm, WithoutACommandTheStrictestAnswerCounts) {
    EXPECT_FALSE(explained({"--container"}).is_allowed);
    EXPECT_FALSE(explained({"--prolog=/bin/sh"}).is_allowed);
    EXPECT_TRUE(explained({"--partition"}).is_allowed);
    EXPECT_TRUE(explained({"-p"}).is_allowed);
    EXPECT_NE(explained({"--no-such-option"}).verdict.find("unknown-option"), std::string::npos);
}

TEST(WhySlurm, AValueIsJudgedWithItsOption) {
    EXPECT_TRUE(explained({"sbatch", "--nodelist=node1"}).is_allowed);
    EXPECT_FALSE(explained({"sbatch", "--nodelist=/etc/passwd"}).is_allowed);
}

TEST(WhySlurm, KnowsCommands) {
    EXPECT_TRUE(explained({"sbatch"}).is_allowed);
    EXPECT_FALSE(explained({"sattach"}).is_allowed);
    EXPECT_FALSE(explained({"no-such-command", "--uid"}).is_allowed);
}

TEST(WhySlurm, ClosedToTheJailNothingPasses) {
    plan::Explanation answer = explained({"sbatch", "--partition"}, false);
    EXPECT_FALSE(answer.is_allowed);
    EXPECT_EQ(answer.verdict, "closed");
}

TEST(WhySlurm, OtherWordsAreAnError) {
    for (const Words& words :
         std::initializer_list<Words>{{}, {"sbatch", "x"}, {"--uid", "sbatch"}, {"a", "-b", "c"}}) {
        EXPECT_FALSE(cli::explain_slurm({}, words));
    }
}

TEST(WhySlurm, ItsOptionsAreWordsOnTheCommandLine) {
    Words words = {"why", "slurm", "--json", "sbatch", "--version"};
    base::Result<cli::Arguments> arguments = cli::parse_arguments(words, base::Path());
    ASSERT_TRUE(arguments);
    EXPECT_TRUE(arguments->wants_json);
    EXPECT_FALSE(arguments->wants_version);
    EXPECT_EQ(arguments->words, (Words{"slurm", "sbatch", "--version"}));
    // Directly after a command, --json is an option of that command.
    arguments = cli::parse_arguments(Words{"why", "slurm", "squeue", "--json"}, base::Path());
    ASSERT_TRUE(arguments);
    EXPECT_FALSE(arguments->wants_json);
    EXPECT_EQ(arguments->words, (Words{"slurm", "squeue", "--json"}));
    for (const Words& both : {Words{"why", "--json", "slurm", "squeue", "--json"},
                              Words{"why", "slurm", "squeue", "--json", "--json"}}) {
        arguments = cli::parse_arguments(both, base::Path());
        ASSERT_TRUE(arguments);
        EXPECT_TRUE(arguments->wants_json);
        EXPECT_EQ(arguments->words, (Words{"slurm", "squeue", "--json"}));
    }
}

}  // namespace
