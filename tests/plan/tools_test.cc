// SPDX-License-Identifier: MIT
// Which missing names are held: those of tools that the user has.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/path.h"
#include "config/data.h"
#include "plan/case.h"

namespace {

using test::Case;
using test::holds;
using test::kLaptop;

Case with(std::string_view more) {
    Case example;
    example.tree = std::string(kLaptop) + std::string(more);
    example.holds_all = false;
    return example;
}

plan::Plan plan_with(std::string_view more) {
    auto plan = planned(with(more));
    EXPECT_TRUE(plan) << plan.error().line();
    return *std::move(plan);
}

bool is_set_aside(const plan::Plan& plan, std::string_view path) {
    return std::ranges::any_of(plan.unheld_names, [&](const plan::UnheldName& name) {
        return name.path.str() == path && name.first_missing;
    });
}

TEST(Tools, NothingIsHeldForAUserWithoutThem) {
    plan::Plan plan = plan_with("");
    for (const plan::Placeholder& placeholder : plan.placeholders)
        EXPECT_TRUE(placeholder.path.is_within(base::Path::known("/home/ann/app/.git")))
            << placeholder.path.str();
    for (std::string_view name : {".envrc", ".vscode", ".mcp.json", "opencode.json", ".claude/settings.json",
                                  ".opencode/plugin", ".agent-sandbox.toml"})
        EXPECT_TRUE(is_set_aside(plan, "/home/ann/app/" + std::string(name))) << name;
}

TEST(Tools, AProgramOnThePathHoldsItsNames) {
    plan::Plan plan = plan_with("f /usr/bin/direnv 0755\n");
    EXPECT_TRUE(holds(plan, "/home/ann/app/.envrc"));
    EXPECT_FALSE(is_set_aside(plan, "/home/ann/app/.envrc"));
    EXPECT_FALSE(holds(plan, "/home/ann/app/.vscode"));
    EXPECT_EQ(test::access(plan, "/home/ann/app/.envrc"), "readonly");
}

TEST(Tools, SettingsInTheHomeHoldTheirNames) {
    plan::Plan plan = plan_with("d /home/ann/.config/helix\nd /home/ann/.codex\n");
    EXPECT_TRUE(holds(plan, "/home/ann/app/.helix"));
    EXPECT_TRUE(holds(plan, "/home/ann/app/.codex"));
    EXPECT_FALSE(holds(plan, "/home/ann/app/.gemini"));
}

TEST(Tools, ADirectoryThatStaysWritableIsNotHeldItself) {
    plan::Plan plan = plan_with("f /usr/bin/claude 0755\n");
    EXPECT_FALSE(holds(plan, "/home/ann/app/.claude"));
    EXPECT_TRUE(holds(plan, "/home/ann/app/.claude/settings.json"));
    EXPECT_TRUE(holds(plan, "/home/ann/app/.claude/hooks"));
    EXPECT_EQ(test::access(plan, "/home/ann/app/.claude/worktrees/a"), "writable");
    EXPECT_EQ(test::access(plan, "/home/ann/app/.claude/hooks"), "readonly");
}

TEST(Tools, AMissingRepositoryIsHeldForGit) {
    Case example = with("d /home/ann/empty\n");
    example.project = "/home/ann/empty";
    auto plan = planned(example);
    ASSERT_TRUE(plan) << plan.error().line();
    EXPECT_TRUE(holds(*plan, "/home/ann/empty/.git"));  // ~/.gitconfig
}

TEST(Tools, AnExistingNameIsCoveredAndNotNew) {
    plan::Plan plan = plan_with("f /home/ann/app/.envrc\n");
    EXPECT_EQ(test::access(plan, "/home/ann/app/.envrc"), "readonly");
    EXPECT_FALSE(is_set_aside(plan, "/home/ann/app/.envrc"));
}

TEST(Tools, AnEmptyDirectoryMayBeAPlaceholderOfAnotherSession) {
    plan::Plan plan = plan_with("d /home/ann/app/.vscode\n");
    EXPECT_TRUE(holds(plan, "/home/ann/app/.vscode"));
}

// A row that no entry of protect.list belongs to is a mistake, and so is an entry that is held and has no
// row.
TEST(Tools, TheListFitsTheProtectedNames) {
    auto first = [](std::string_view text) { return text.substr(0, text.find('/')); };
    for (const config::DataRow& row : config::data_list("project/tools")) {
        EXPECT_TRUE(std::ranges::any_of(
            config::data_list("project/protect"),
            [&](const config::DataRow& entry) { return first(entry.entry) == first(row.entry); }))
            << row.entry;
    }
    for (const config::DataRow& entry : config::data_list("project/protect")) {
        const std::string_view name = first(entry.entry);
        if (base::has_wildcard(entry.entry) || name == ".hg" || name == ".jj") continue;
        EXPECT_TRUE(std::ranges::any_of(config::data_list("project/tools"), [&](const config::DataRow& row) {
            return first(row.entry) == name;
        })) << entry.entry;
    }
}

}  // namespace
