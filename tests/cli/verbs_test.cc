// SPDX-License-Identifier: MIT
#include "cli/verbs.h"

#include <gtest/gtest.h>

#include "config/verbs.h"

namespace {

TEST(Verbs, EveryVerbThatHelpListsIsPerformed) {
    for (const config::Verb& verb : config::verbs())
        EXPECT_NE(cli::find_verb(verb.name), nullptr) << verb.name;
    EXPECT_EQ(cli::find_verb("bash"), nullptr);
}

TEST(Verbs, UsageNamesTheVerbAndItsArguments) {
    EXPECT_EQ(cli::usage_of("untrust"), "usage: agent-sandbox untrust [DIRECTORY]");
    EXPECT_EQ(cli::usage_of("version"), "usage: agent-sandbox version");
}

}  // namespace
