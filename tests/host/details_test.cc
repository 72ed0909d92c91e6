// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "host/facts.h"

namespace host {
namespace {

Facts facts_of(std::string_view listing) {
    base::Result<MemoryTree> tree =
        MemoryTree::parse("f /proc/self/ns/user\nf /proc/self/ns/cgroup\n" + std::string(listing));
    EXPECT_TRUE(tree) << tree.error().line();
    Facts facts;
    if (tree) probe_files(*tree, facts);
    return facts;
}

TEST(ProbeFiles, FindsNoObstacleOnAnOpenMachine) {
    Facts facts = facts_of(
        "f /proc/sys/user/max_user_namespaces 0444 96373\\n\nf /proc/sys/kernel/unprivileged_userns_clone "
        "0444 1\\n");
    EXPECT_FALSE(facts.user_namespace_obstacle);
    EXPECT_EQ(facts.namespace_obstacle, NamespaceObstacle::none);
    EXPECT_TRUE(facts.has_cgroup_namespace);
}

TEST(ProbeFiles, KnowsEachSettingThatClosesUserNamespaces) {
    EXPECT_EQ(facts_of("f /proc/sys/user/max_user_namespaces 0444 0\\n").user_namespace_obstacle,
              "user.max_user_namespaces is 0");
    EXPECT_EQ(facts_of("f /proc/sys/kernel/unprivileged_userns_clone 0444 0\\n").user_namespace_obstacle,
              "kernel.unprivileged_userns_clone is 0");
    Facts bare;
    probe_files(MemoryTree(), bare);
    EXPECT_EQ(bare.namespace_obstacle, NamespaceObstacle::not_built_in);
    EXPECT_FALSE(bare.has_cgroup_namespace);
}

TEST(ProbeFiles, AppArmorIsAnObstacleOnlyWithoutAProfileForBwrap) {
    constexpr std::string_view kRestricted =
        "f /proc/sys/kernel/apparmor_restrict_unprivileged_userns 0444 1\\n\n";
    Facts closed = facts_of(std::string(kRestricted) + "f /etc/apparmor.d/firefox\n");
    EXPECT_EQ(closed.namespace_obstacle, NamespaceObstacle::apparmor);
    EXPECT_TRUE(closed.apparmor_restricts_user_namespaces);
    EXPECT_FALSE(closed.apparmor_profile_for_bwrap);

    Facts open = facts_of(std::string(kRestricted) + "f /etc/apparmor.d/bwrap-userns-restrict\n");
    EXPECT_EQ(open.namespace_obstacle, NamespaceObstacle::none);
    EXPECT_TRUE(open.apparmor_restricts_user_namespaces);
    EXPECT_TRUE(open.apparmor_profile_for_bwrap);

    Facts disabled = facts_of(std::string(kRestricted) +
                              "f /etc/apparmor.d/bwrap\nl /etc/apparmor.d/disable/bwrap ../bwrap\n");
    EXPECT_EQ(disabled.namespace_obstacle, NamespaceObstacle::apparmor) << "a profile that is switched off";
}

TEST(ProbeFiles, WhatClosesUserNamespacesClosesThemToThisProgram) {
    EXPECT_FALSE(facts_of("").native_obstacle);
    for (auto [listing, cause] :
         {std::pair("f /proc/sys/user/max_user_namespaces 0444 0\\n", "max_user"),
          std::pair("f /proc/sys/kernel/unprivileged_userns_clone 0444 0\\n", "clone")}) {
        Facts facts = facts_of(listing);
        ASSERT_TRUE(facts.native_obstacle) << listing;
        EXPECT_TRUE(facts.native_obstacle->starts_with("agent-sandbox itself can't make user namespaces: "));
        EXPECT_NE(facts.native_obstacle->find(cause), std::string::npos) << *facts.native_obstacle;
        EXPECT_NE(facts.native_obstacle->find("; "), std::string::npos) << "a remedy";
    }
}

// Threat: a profile for bwrap does not apply to this program, and one for this program does not apply to
// bwrap.
TEST(ProbeFiles, AppArmorIsAskedWhichProfileThisProgramRunsUnder) {
    constexpr std::string_view kRestricted =
        "f /proc/sys/kernel/apparmor_restrict_unprivileged_userns 0444 1\\n\n";
    constexpr std::string_view kLabel = "f /proc/self/attr/apparmor/current 0444 ";
    Facts for_bwrap = facts_of(std::string(kRestricted) + std::string(kLabel) +
                               "unconfined\\n\nf /etc/apparmor.d/bwrap-userns-restrict\n");
    EXPECT_FALSE(for_bwrap.user_namespace_obstacle);
    ASSERT_TRUE(for_bwrap.native_obstacle);
    EXPECT_NE(for_bwrap.native_obstacle->find("no AppArmor profile for agent-sandbox"), std::string::npos);

    Facts for_us = facts_of(std::string(kRestricted) + std::string(kLabel) + "agent-sandbox (unconfined)\\n");
    EXPECT_TRUE(for_us.user_namespace_obstacle);
    EXPECT_FALSE(for_us.native_obstacle) << *for_us.native_obstacle;

    EXPECT_TRUE(facts_of(kRestricted).native_obstacle) << "what can't be read is no permission";
}

TEST(ProbeFiles, ReadsTheNameOfTheSystem) {
    EXPECT_EQ(
        facts_of("f /etc/os-release NAME=\"x\"\\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\\n").os_name,
        "Debian GNU/Linux 12 (bookworm)");
    EXPECT_EQ(facts_of("f /usr/lib/os-release PRETTY_NAME=Plain").os_name, "Plain");
    EXPECT_EQ(facts_of("l /etc/os-release ../usr/lib/os-release\nf /usr/lib/os-release PRETTY_NAME='Quoted'")
                  .os_name,
              "Quoted");
    EXPECT_EQ(facts_of("").os_name, "");
}

TEST(ProbeFiles, FindsGpuNodes) {
    Facts facts = facts_of(
        "c /dev/nvidia0\nc /dev/nvidiactl\nd /dev/nvidia-caps\nc /dev/null\nc /dev/kfd\n"
        "c /dev/dri/renderD128\nc /dev/dri/card0\n");
    EXPECT_EQ(facts.gpu_devices, (std::vector<std::string>{"/dev/nvidia0", "/dev/nvidiactl", "/dev/kfd",
                                                           "/dev/dri/renderD128"}));
}

TEST(ProbeDetails, FillsTheFactsOfThisMachine) {
    Facts facts;
    facts.landlock_abi = -1;
    probe_details(facts);
    EXPECT_GE(facts.landlock_abi, 0);
    EXPECT_EQ(facts.user_namespace_obstacle.has_value(), facts.namespace_obstacle != NamespaceObstacle::none);
}

}  // namespace
}  // namespace host
