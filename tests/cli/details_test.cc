// SPDX-License-Identifier: MIT
#include "cli/help/topics.h"

#include <gtest/gtest.h>

#include "cli/help/help.h"
#include "cli/verbs.h"

namespace {

TEST(Details, TermsProseAndTheExitStatusAreToldApart) {
    std::vector<cli::Detail> details = cli::details_in(
        "Some prose that\ngoes on.\n--flag  its meaning\n        that goes on\nExit status: 0.\nMore of it.");
    ASSERT_EQ(details.size(), 3u);
    EXPECT_EQ(details[0].term, "");
    EXPECT_EQ(details[0].text, "Some prose that goes on.");
    EXPECT_EQ(details[1].term, "--flag");
    EXPECT_EQ(details[1].text, "its meaning that goes on");
    EXPECT_EQ(details[2].text, "Exit status: 0. More of it.");
    EXPECT_TRUE(cli::details_in("").empty());
}

TEST(ManualParts, NameEveryVerbWithItsArguments) {
    base::Result<std::string> page = cli::manual_part("verbs");
    ASSERT_TRUE(page);
    for (const cli::Verb& verb : cli::verbs())
        EXPECT_NE(page->find("*" + std::string(verb.name) + "* "), std::string::npos) << verb.name;
}

TEST(ManualParts, AnUnknownOneIsAnErrorThatNamesThem) {
    base::Result<std::string> page = cli::manual_part("nothing");
    ASSERT_FALSE(page);
    EXPECT_NE(page.error().line().find("verbs, options, topics, settings"), std::string::npos);
}

}  // namespace
