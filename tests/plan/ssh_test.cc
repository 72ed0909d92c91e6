// SPDX-License-Identifier: MIT
// The step that opens the filtered ssh-agent (plan/network/ssh.cc).
#include <gtest/gtest.h>

#include "base/text.h"
#include "plan/case.h"
#include "plan/print/summary.h"

namespace {

constexpr std::string_view kKey = "AAAAC3NzaC1lZDI1NTE5AAAAIFi4aOnrThY7jwEdgV2KbdqSnEkRfBR5ry7YJmT3UNOk";
constexpr const char* kUsual =
    "[ssh]\nkeys = [\"~/.ssh/id.pub\"]\nhosts = [\"git@git.example\", \"me@git.example:2222\"]\n";

test::Case usual() {
    test::Case example;
    example.tree += base::format("f /home/ann/.ssh/id.pub 0644 ssh-ed25519 {} ann@home\n", kKey);
    example.tree += base::format(
        "f /home/ann/.ssh/known_hosts 0600 git.example ssh-ed25519 {}\\nsecret.example ssh-ed25519 {}\\n"
        "[git.example]:2222 ssh-ed25519 {}\\n\n",
        kKey, kKey, kKey);
    example.environment.emplace_back("SSH_AUTH_SOCK=/tmp/agent");
    example.toml = {.user = kUsual};
    return example;
}

std::string value_of(const plan::Plan& plan, std::string_view name) {
    for (const plan::Variable& variable : plan.environment.passed)
        if (variable.name == name) return variable.value;
    return "unset";
}

std::string error_of(const test::Case& example) {
    base::Result<plan::Plan> plan = test::planned(example);
    return plan ? "none" : plan.error().line();
}

bool contains(const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
}

TEST(Ssh, GivesTheJailASocketAndTheKeysOfItsHostsAlone) {
    base::Result<plan::Plan> plan = test::planned(usual());
    ASSERT_TRUE(plan) << plan.error().line();
    EXPECT_TRUE(plan->ssh.is_open);
    EXPECT_EQ(plan->ssh.rules.agent, "/tmp/agent");
    EXPECT_EQ(value_of(*plan, "SSH_AUTH_SOCK"), "/run/agent-sandbox/ssh-agent");
    const plan::Mount* socket = test::mount_at(*plan, "/run/agent-sandbox/ssh-agent");
    ASSERT_NE(socket, nullptr);
    EXPECT_EQ(socket->kind, plan::MountKind::helper_socket);
    EXPECT_TRUE(contains(socket->reason.why, "git@git.example, me@git.example:2222"));
    const plan::Mount* known = test::mount_at(*plan, "/etc/ssh/ssh_known_hosts");
    ASSERT_NE(known, nullptr);
    EXPECT_EQ(known->source,
              base::format("git.example ssh-ed25519 {}\n[git.example]:2222 ssh-ed25519 {}\n", kKey, kKey));
    EXPECT_NE(test::access(*plan, "/home/ann/.ssh/id.pub"), "readonly");
    base::Result<plan::Plan> inside = plan::decode_summary(plan::encode_summary(*plan));
    ASSERT_TRUE(inside);
    EXPECT_EQ(inside->ssh.rules.hosts.size(), 2u);
    EXPECT_EQ(inside->ssh.rules.keys[0].fingerprint, plan->ssh.rules.keys[0].fingerprint);
}

TEST(Ssh, IsClosedWithoutTheSettings) {
    test::Case example = usual();
    example.toml = {};
    base::Result<plan::Plan> plan = test::planned(example);
    ASSERT_TRUE(plan);
    EXPECT_FALSE(plan->ssh.is_open);
    EXPECT_EQ(value_of(*plan, "SSH_AUTH_SOCK"), "unset");
    EXPECT_EQ(test::mount_at(*plan, "/run/agent-sandbox/ssh-agent"), nullptr);
}

TEST(Ssh, WithoutAnAgentIsClosedWithANote) {
    test::Case example = usual();
    example.environment.pop_back();
    base::Result<plan::Plan> plan = test::planned(example);
    ASSERT_TRUE(plan);
    EXPECT_FALSE(plan->ssh.is_open);
    EXPECT_TRUE(std::ranges::any_of(
        plan->notes, [](const plan::Note& note) { return contains(note.text, "SSH_AUTH_SOCK"); }));
}

TEST(Ssh, MistakesStopTheStartWithTheirPlace) {
    struct Mistake {
        const char* toml;
        const char* message;
    };
    constexpr Mistake kMistakes[] = {
        {"[ssh]\nkeys = [\"~/.ssh/missing.pub\"]\nhosts = [\"git@git.example\"]\n", "missing.pub is missing"},
        {"[ssh]\nkeys = [\"~/.ssh/known_hosts\"]\nhosts = [\"git@git.example\"]\n", "not a public key"},
        {"[ssh]\nkeys = [\"~/.ssh/id.pub\"]\nhosts = [\"git.example\"]\n",
         "'git.example' is not a user at a host"},
        {"[ssh]\nkeys = [\"~/.ssh/id.pub\"]\nhosts = [\"git@other.example\"]\n", "ssh git@other.example"},
        {"[ssh]\nkeys = [\"~/.ssh/id.pub\"]\nhosts = [\"git@git.example:99\"]\n",
         "ssh -p 99 git@git.example"},
        {"[ssh]\nhosts = [\"git@git.example\"]\n", "ssh.keys is empty"},
    };
    for (const Mistake& mistake : kMistakes) {
        test::Case example = usual();
        example.toml = {.user = mistake.toml};
        EXPECT_TRUE(contains(error_of(example), mistake.message)) << error_of(example);
    }
}

// A session that writes one of these files would decide what later sessions sign.
TEST(Ssh, FilesThatTheJailCanWriteStopTheStart) {
    test::Case example = usual();
    example.tree += base::format("f /home/ann/app/id.pub 0644 ssh-ed25519 {}\n", kKey);
    example.toml = {.user = "[ssh]\nkeys = [\"~/app/id.pub\"]\nhosts = [\"git@git.example\"]\n"};
    EXPECT_TRUE(contains(error_of(example), "the jail can write it")) << error_of(example);
    example.tree += "l /home/ann/.ssh/link.pub ../app/id.pub\n";
    example.toml = {.user = "[ssh]\nkeys = [\"~/.ssh/link.pub\"]\nhosts = [\"git@git.example\"]\n"};
    EXPECT_TRUE(contains(error_of(example), "the jail can write it")) << error_of(example);
}

TEST(Ssh, AProjectFileCanAddNothing) {
    test::Case example = usual();
    example.toml = {.user = kUsual, .project = "[ssh]\nhosts = [\"root@git.example\"]\n"};
    base::Result<plan::Plan> plan = test::planned(example);
    if (plan) {
        for (const ssh_agent::Host& host : plan->ssh.rules.hosts) EXPECT_NE(host.user, "root");
    }
}

}  // namespace
