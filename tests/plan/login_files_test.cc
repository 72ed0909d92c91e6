// SPDX-License-Identifier: MIT
// credentials.login = "outside": the jail has a copy of the log-in file in a directory of its own.
#include <gtest/gtest.h>

#include "base/text.h"
#include "plan/case.h"
#include "plan/network/broker.h"

namespace {

constexpr std::string_view kAgent =
    "[agent]\ncommands = [\"tiny\"]\nstate = [\".claude\"]\ntokens = [\".claude/.credentials.json\"]\n"
    "protect = [\".claude/settings.json\"]\n";
constexpr std::string_view kTree =
    "d /home/ann/.claude 0700\nd /home/ann/.claude/projects 0700\n"
    "f /home/ann/.claude/.credentials.json 0600 {\"claudeAiOauth\":{\"accessToken\":\"real\"}}\\n\n"
    "f /home/ann/.claude/settings.json 0600 {}\\n\nf /home/ann/.claude/history.jsonl 0600 {}\\n\n"
    "f /home/ann/.claude/cache.json 0600 {}\\n\n";

plan::Brokered with_login() {
    plan::Brokered made;
    made.credentials = {
        *credentials::make_credential("claude-login", *credentials::preset_values("claude-login"), {})};
    made.placeholders = {"sk-ant-oat01-placeholder"};
    made.root = []() -> base::Result<plan::RootCertificate> {
        return plan::RootCertificate{"root", "1a2b3c4d.0"};
    };
    return made;
}

base::Result<plan::Plan> planned(std::string_view login, std::string_view tree = kTree,
                                 std::string_view access = "tmpwrite") {
    static plan::Brokered brokered = with_login();
    test::Case example{.agent = std::string(kAgent), .brokered = login == "outside" ? &brokered : nullptr};
    example.tree += tree;
    const std::string settings =
        base::format("[home]\naccess = \"{}\"\n[credentials]\nlogin = \"{}\"\n", access, login);
    example.toml.user = settings;
    return test::planned(example);
}

const plan::PathRule* rule_of(const plan::Plan& plan, std::string_view path) {
    return plan::deciding_rule(plan.rules, base::Path::known(std::string(path)));
}

TEST(LoginFiles, AreInADirectoryOfTheJailsOwn) {
    for (const char* access : {"tmpwrite", "restricted", "read", "write"}) {
        auto plan = planned("outside", kTree, access);
        ASSERT_TRUE(plan) << plan.error().line();
        EXPECT_EQ(rule_of(*plan, "/home/ann/.claude/new")->backing, plan::Backing::ephemeral) << access;
        EXPECT_EQ(rule_of(*plan, "/home/ann/.claude/cache.json")->backing, plan::Backing::ephemeral)
            << access;
        EXPECT_EQ(rule_of(*plan, "/home/ann/.claude/projects/x")->backing, plan::Backing::host) << access;
        EXPECT_EQ(rule_of(*plan, "/home/ann/.claude/history.jsonl")->access, plan::Access::writable)
            << access;
        EXPECT_EQ(rule_of(*plan, "/home/ann/.claude/settings.json")->access, plan::Access::readonly)
            << access;
        const plan::Mount* copy = test::mount_at(*plan, "/home/ann/.claude/.credentials.json");
        ASSERT_TRUE(copy) << access;
        EXPECT_EQ(copy->kind, plan::MountKind::file) << access;
        EXPECT_NE(copy->source.find("sk-ant-oat01-placeholder"), std::string::npos) << access;
        EXPECT_EQ(copy->source.find("real"), std::string::npos) << access;
    }
    // Control: with the log-in inside the directory is the user's, and nothing hides the file.
    auto inside = planned("inside");
    ASSERT_TRUE(inside) << inside.error().line();
    EXPECT_EQ(rule_of(*inside, "/home/ann/.claude/.credentials.json")->backing, plan::Backing::host);
    EXPECT_EQ(rule_of(*inside, "/home/ann/.claude/.credentials.json")->access, plan::Access::writable);
}

TEST(LoginFiles, BehindALinkAreRefused) {
    auto plan = planned("outside",
                        "d /home/ann/real 0700\nf /home/ann/real/.credentials.json 0600 {}\\n\n"
                        "l /home/ann/.claude real\n");
    ASSERT_FALSE(plan);
    EXPECT_NE(plan.error().line().find("behind a symbolic link"), std::string::npos) << plan.error().line();
}

}  // namespace
