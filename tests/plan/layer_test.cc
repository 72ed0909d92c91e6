// SPDX-License-Identifier: MIT
// Plans of copy-on-write sessions.
#include <gtest/gtest.h>

#include <algorithm>

#include "plan/case.h"

namespace {

using test::access;
using test::Case;
using test::mount_at;
using test::planned;

constexpr const char* kLayered = "[cow]\nenabled = true\n";

TEST(LayerPlan, ShowsTheProjectAsAnOverlay) {
    auto plan = planned({.toml = {.user = kLayered}});
    ASSERT_TRUE(plan) << plan.error().line();
    EXPECT_TRUE(plan->is_layered);
    ASSERT_NE(mount_at(*plan, "/home/ann/app"), nullptr);
    EXPECT_EQ(mount_at(*plan, "/home/ann/app")->kind, plan::MountKind::overlay);
    EXPECT_EQ(access(*plan, "/home/ann/app/src/x"), "writable");
    auto plain = planned({});
    EXPECT_FALSE(plain->is_layered);
    EXPECT_EQ(mount_at(*plain, "/home/ann/app")->kind, plan::MountKind::bind_writable);
}

TEST(LayerPlan, ProtectsNoNameMakesNoPlaceholderAndKeepsMasks) {
    auto plan = planned({.toml = {.user = kLayered}});
    ASSERT_TRUE(plan) << plan.error().line();
    EXPECT_EQ(access(*plan, "/home/ann/app/.git/hooks/x"), "writable");
    EXPECT_EQ(access(*plan, "/home/ann/app/.env"), "masked");
    EXPECT_FALSE(plan->judges_git_config);
    EXPECT_TRUE(plan->unheld_names.empty());
    EXPECT_TRUE(std::ranges::none_of(plan->placeholders, [](const plan::Placeholder& placeholder) {
        return placeholder.path.is_within(base::Path::known("/home/ann/app"));
    }));
}

TEST(LayerPlan, MakesTheNamesOfRulesInTheLayer) {
    auto plan = planned(
        {.toml = {.admin = "[mounts]\ndeny_writable = [\"/home/ann/app/closed/in\"]\n", .user = kLayered}});
    ASSERT_TRUE(plan) << plan.error().line();
    EXPECT_EQ(plan->layer_places, std::vector<base::Path>{base::Path::known("/home/ann/app/closed/in")});
    EXPECT_EQ(access(*plan, "/home/ann/app/closed/in/x"), "readonly");
}

TEST(LayerPlan, RefusesWhatWouldBeWrittenDirectly) {
    for (const char* more : {"[mounts]\nwritable = [\"/home/ann/other\"]\n",
                             "[home]\nwritable = [\"notes\"]\n", "[home]\naccess = \"write\"\n"}) {
        const std::string toml = std::string(kLayered) + more;
        auto plan = planned({.toml = {.user = toml.c_str()}});
        ASSERT_FALSE(plan) << more;
        EXPECT_NE(plan.error().what.find("--cow"), std::string::npos) << plan.error().line();
        EXPECT_FALSE(plan.error().advice.empty());
    }
}

constexpr const char* kCloned = "[cow]\nenabled = true\nengine = \"clone\"\n";

TEST(LayerPlan, MountsACloneInThePlaceOfTheProject) {
    auto plan = planned({.toml = {.user = kCloned}});
    ASSERT_TRUE(plan) << plan.error().line();
    EXPECT_TRUE(plan->is_layered && plan->is_cloned);
    const plan::Mount* mount = mount_at(*plan, "/home/ann/app");
    ASSERT_NE(mount, nullptr);
    EXPECT_EQ(mount->kind, plan::MountKind::bind_writable);
    EXPECT_EQ(mount->source, (plan->layer / "roots/0/clone/tree").str());
    EXPECT_EQ(access(*plan, "/home/ann/app/.env"), "masked");
    EXPECT_TRUE(plan->notes.empty() || plan->notes.front().text.find("clone") == std::string::npos);
}

TEST(LayerPlan, TakesACloneForBubblewrapWithOneLineThatSaysWhy) {
    const std::string toml = std::string(kLayered) + "[isolation]\nbackend = \"bwrap\"\n";
    auto plan = planned({.toml = {.user = toml.c_str()}});
    ASSERT_TRUE(plan) << plan.error().line();
    EXPECT_TRUE(plan->is_cloned);
    EXPECT_EQ(
        std::ranges::count_if(plan->notes,
                              [](const plan::Note& note) {
                                  return note.text.find("works on a clone of the project: bubblewrap") !=
                                         std::string::npos;
                              }),
        1);
    for (const plan::Mount& mount : plan->mounts) EXPECT_NE(mount.kind, plan::MountKind::overlay);
    auto refused = planned(
        {.toml = {.user =
                      "[cow]\nenabled = true\nengine = \"overlay\"\n[isolation]\nbackend = \"bwrap\"\n"}});
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().advice.find("cow.engine"), std::string::npos);
}

TEST(LayerPlan, ProtectsNamesInsideWhereThatIsAsked) {
    auto plan = planned({.toml = {.user = "[cow]\nenabled = true\nprotect = \"inside\"\n"}});
    ASSERT_TRUE(plan) << plan.error().line();
    EXPECT_EQ(access(*plan, "/home/ann/app/.git/hooks/x"), "readonly");
    EXPECT_FALSE(plan->judges_git_config);
    EXPECT_TRUE(std::ranges::none_of(plan->placeholders, [](const plan::Placeholder& placeholder) {
        return placeholder.path.is_within(base::Path::known("/home/ann/app"));
    }));
}

TEST(LayerPlan, HidesTheStorageOfLayers) {
    auto plan = planned({.toml = {.user = "[cow]\nstorage = \"/home/ann/other/layers\"\n[mounts]\nreadonly = "
                                          "[\"/home/ann/other\"]\n"}});
    ASSERT_TRUE(plan) << plan.error().line();
    EXPECT_EQ(access(*plan, "/home/ann/other/layers/4f2a"), "hidden");
    EXPECT_EQ(access(*plan, "/home/ann/other/x"), "readonly");
}

TEST(LayerPlan, OfAReadOnlyProjectHasNoLayer) {
    const std::string toml = std::string(kLayered) + "[project]\nread_only = true\n";
    auto plan = planned({.toml = {.user = toml.c_str()}});
    ASSERT_TRUE(plan) << plan.error().line();
    EXPECT_FALSE(plan->is_layered);
}

TEST(LayerPlan, ShowsTheRepositoryOfAWorktreeForReading) {
    Case example{.toml = {.user = kLayered}, .project = "/home/ann/wt"};
    example.tree +=
        "f /home/ann/wt/.git 0644 gitdir: /home/ann/app/.git/worktrees/wt\n"
        "f /home/ann/app/.git/worktrees/wt/commondir 0644 ../..\n"
        "f /home/ann/app/.git/worktrees/wt/gitdir 0644 /home/ann/wt/.git\n"
        "f /home/ann/app/.git/worktrees/wt/HEAD\n";
    auto plan = planned(example);
    ASSERT_TRUE(plan) << plan.error().line();
    EXPECT_EQ(access(*plan, "/home/ann/app/.git/objects/x"), "readonly");
}

}  // namespace
