// SPDX-License-Identifier: MIT
#include "cli/slurm/jobs.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace {

using Words = std::vector<std::string>;

const base::Path kHere = base::Path::known("/here");

cli::Arguments parsed(const Words& words) {
    auto arguments = cli::parse_arguments(words, kHere);
    EXPECT_TRUE(arguments);
    return arguments ? *arguments : cli::Arguments{};
}

// The options that a job is started with have the same meaning as the session's options.
TEST(OptionsOfJobs, MeanTheSameAgain) {
    const Words words = {"--network",  "isolated",     "--ro",        "data",         "--ro=/opt/x y",
                         "--env",      "PASSED",       "--env=A=b=c", "--limit",      "memory=2G",
                         "--limit",    "wall_time=2h", "--read-only", "--allow-host", "*.example.org:443",
                         "--preset",   "review",       "--agent",     "claude",       "--home",
                         "restricted", "--hide=~/x",   "--module",    "gcc/12",       "--module=openmpi",
                         "true"};
    cli::Arguments first = parsed(words);
    Words options = cli::options_of(first);
    cli::Arguments again = parsed(options);
    EXPECT_EQ(again.preset, "review");
    ASSERT_EQ(again.settings.size(), first.settings.size());
    for (const auto& [key, value] : first.settings) {
        auto other = again.settings.find(key);
        ASSERT_NE(other, again.settings.end()) << key;
        EXPECT_EQ(other->second.text, value.text) << key;
        ASSERT_EQ(other->second.items.size(), value.items.size()) << key;
        for (size_t i = 0; i < value.items.size(); ++i)
            EXPECT_EQ(other->second.items[i].text, value.items[i].text) << key;
    }
}

TEST(OptionsOfJobs, WhatIsOfThisMachineStaysHere) {
    EXPECT_TRUE(cli::options_of(parsed({"--publish", "8080", "--verbose", "true"})).empty());
}

TEST(VariablesOfJobs, AreSettingsAlone) {
    EXPECT_EQ(cli::setting_variables({"AGENT_SANDBOX_NETWORK_MODE=open", "AGENT_SANDBOX_SESSION=x", "HOME=/h",
                                      "AGENT_SANDBOX_STEP_0=abc"}),
              Words{"AGENT_SANDBOX_NETWORK_MODE=open"});
}

}  // namespace
