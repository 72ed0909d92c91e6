// SPDX-License-Identifier: MIT
#include "cli/verbs.h"

#include <gtest/gtest.h>

namespace {

TEST(Verbs, EveryVerbThatHelpListsIsPerformedAndExplained) {
    EXPECT_GT(cli::verbs().size(), 20u);
    for (const cli::Verb& verb : cli::verbs()) {
        ASSERT_EQ(cli::find_verb(verb.name), &verb) << verb.name;
        EXPECT_NE(verb.perform, nullptr) << verb.name;
        EXPECT_FALSE(verb.help.empty()) << verb.name;
        EXPECT_FALSE(verb.is_hidden) << verb.name;
    }
    EXPECT_EQ(cli::find_verb("bash"), nullptr);
}

TEST(Verbs, HiddenVerbsAndFlagsAreAcceptedAndNotListed) {
    const cli::Verb* verb = cli::find_verb("__complete");
    ASSERT_NE(verb, nullptr);
    EXPECT_TRUE(verb->is_hidden);
    const cli::Verb& ps = *cli::find_verb("ps");
    EXPECT_EQ(cli::flags_of(ps).size(), 1u);
    ASSERT_EQ(cli::accepted_flags_of(ps).size(), 2u);
    EXPECT_EQ(cli::accepted_flags_of(ps)[1].flag, "--ids");
}

TEST(Verbs, UsageNamesTheVerbAndItsArguments) {
    EXPECT_EQ(cli::usage_of("untrust"), "usage: agent-sandbox untrust [DIRECTORY]");
    EXPECT_EQ(cli::usage_of("version"), "usage: agent-sandbox version");
}

}  // namespace
