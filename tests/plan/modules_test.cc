// SPDX-License-Identifier: MIT
// What modules changed in the environment, and which decisions they can't change.
#include <gtest/gtest.h>

#include <algorithm>

#include "plan/case.h"

namespace {

using test::access;
using test::Case;
using test::planned;

std::string passed(const plan::Plan& plan, std::string_view name) {
    auto found = std::ranges::find(plan.environment.passed, name, &plan::Variable::name);
    return found == plan.environment.passed.end() ? "(none)" : found->value;
}

// A machine with a loaded module whose software is in a directory that none of our lists names.
Case loaded() {
    Case example{.environment = {"HOME=/home/ann", "PATH=/cluster/tool/1.0/bin:/usr/bin",
                                 "TOOL_ROOT=/cluster", "UNHEARD_OF=1", "TOOL_TOKEN=planted",
                                 "LD_PRELOAD=/x.so", "AGENT_SANDBOX_NETWORK_MODE=open",
                                 "http_proxy=http://planted:1"}};
    example.tree += "d /cluster/tool/1.0/bin\nd /cluster/tool/1.0/share\nd /cluster/other\n";
    example.modules = {
        .set = {"AGENT_SANDBOX_NETWORK_MODE", "LD_PRELOAD", "PATH", "TOOL_ROOT", "TOOL_TOKEN", "http_proxy"},
        .search_places = {"/cluster/tool/1.0/bin"},
        .environment_before = {"HOME=/home/ann", "PATH=/usr/bin"}};
    return example;
}

TEST(Modules, WhatTheySetPassesButForSecretsAndInjection) {
    auto plan = planned(loaded());
    ASSERT_TRUE(plan);
    EXPECT_EQ(passed(*plan, "TOOL_ROOT"), "/cluster");
    EXPECT_NE(passed(*plan, "PATH").find("/cluster/tool/1.0/bin"), std::string::npos);
    for (const char* name : {"UNHEARD_OF", "TOOL_TOKEN", "LD_PRELOAD", "AGENT_SANDBOX_NETWORK_MODE"})
        EXPECT_EQ(passed(*plan, name), "(none)") << name;
}

TEST(Modules, TheGatewayAsksTheEnvironmentBefore) {
    Case example = loaded();
    auto plan = planned(example);
    ASSERT_TRUE(plan);
    EXPECT_FALSE(plan->network.egress.upstream);
    example.modules.environment_before.emplace_back("http_proxy=http://proxy.example.org:3128");
    plan = planned(example);
    ASSERT_TRUE(plan);
    EXPECT_TRUE(plan->network.egress.upstream);
}

TEST(Modules, TheirSoftwareIsSeenWithItsTreeAndNothingBeside) {
    auto plan = planned(loaded());
    ASSERT_TRUE(plan);
    EXPECT_EQ(access(*plan, "/cluster/tool/1.0/share"), "readonly");
    EXPECT_EQ(access(*plan, "/cluster/other"), "absent");
}

TEST(Modules, OpenNoPersonalPlacesAndNothingNearTheRoot) {
    Case example = loaded();
    example.tree += "d /scratch/bin\nd /scratch/bob\nd /home/bob/tool/bin\nd /home/ann/other/bin\n";
    example.modules.search_places = {"/scratch/bin", "/home/bob/tool/bin", "/home/ann/other/bin", "/", "bin"};
    auto plan = planned(example);
    ASSERT_TRUE(plan);
    EXPECT_EQ(access(*plan, "/scratch/bin"), "readonly");
    EXPECT_EQ(access(*plan, "/scratch/bob"), "absent");
    EXPECT_EQ(access(*plan, "/home/bob/tool/bin"), "absent");
    EXPECT_EQ(test::mount_at(*plan, "/home/ann/other"), nullptr);
    EXPECT_EQ(test::mount_at(*plan, "/home/ann/other/bin"), nullptr);
}

TEST(Modules, AHideWinsWhoeverWroteIt) {
    for (bool is_admins : {false, true}) {
        Case example = loaded();
        std::string_view hide = "[mounts]\nhidden = [\"/cluster/tool\"]\n";
        (is_admins ? example.toml.admin : example.toml.user) = hide;
        auto plan = planned(example);
        ASSERT_TRUE(plan) << plan.error().line();
        EXPECT_NE(access(*plan, "/cluster/tool/1.0/share"), "readonly") << is_admins;
    }
}

}  // namespace
