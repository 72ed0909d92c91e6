// SPDX-License-Identifier: MIT
// What git inside does where the user's git signs commits (plan/project/git_signing.cc).
#include <gtest/gtest.h>

#include "base/text.h"
#include "plan/case.h"

namespace {

constexpr std::string_view kKey = "AAAAC3NzaC1lZDI1NTE5AAAAIFi4aOnrThY7jwEdgV2KbdqSnEkRfBR5ry7YJmT3UNOk";
constexpr const char* kSigns = "[ssh]\nkeys = [\"~/.ssh/id.pub\"]\nsign = [\"git\"]\n";

test::Case with(std::string_view settings, const char* toml = "") {
    test::Case example;
    const size_t at = example.tree.find("f /home/ann/.gitconfig"), end = example.tree.find('\n', at) + 1;
    example.tree.replace(at, end - at, base::format("f /home/ann/.gitconfig 0644 {}\n", settings));
    example.tree += base::format("f /home/ann/.ssh/id.pub 0644 ssh-ed25519 {} ann@home\n", kKey);
    example.environment.emplace_back("SSH_AUTH_SOCK=/tmp/agent");
    example.toml.user = toml;
    return example;
}

// "key=value|…" of git's settings in the environment, and then what a note says about signing.
std::string outcome(const test::Case& example) {
    base::Result<plan::Plan> plan = test::planned(example);
    if (!plan) return plan.error().line();
    std::string text;
    constexpr std::string_view kKeys = "GIT_CONFIG_KEY_", kValues = "GIT_CONFIG_VALUE_";
    for (const plan::Variable& key : plan->environment.passed) {
        if (!key.name.starts_with(kKeys) || key.value == "branch.autoSetupMerge") continue;
        for (const plan::Variable& value : plan->environment.passed) {
            if (value.name == std::string(kValues) + key.name.substr(kKeys.size()))
                text += key.value + "=" + value.value + "|";
        }
    }
    for (const plan::Note& note : plan->notes) {
        if (note.text.find("does not sign") != std::string::npos) text += note.text;
    }
    return text;
}

bool contains(const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
}

TEST(GitSigning, WithoutASettingNothingChanges) {
    EXPECT_EQ(outcome(with("[user]\\nname = Ann\\n")), "");
    EXPECT_EQ(outcome(with("[user]\\nsigningkey = ABCD\\n[commit]\\ngpgsign = false\\n")), "");
    EXPECT_EQ(outcome(with("[user]\\nname = Ann\\n", kSigns)), "");
}

TEST(GitSigning, WithoutAKeyCommitsAreUnsignedAndANoteNamesTheSetting) {
    std::string text =
        outcome(with("[commit]\\ngpgsign = true\\n[tag]\\ngpgSign = yes\\n[gpg]\\nformat = ssh\\n"));
    EXPECT_TRUE(contains(text, "commit.gpgSign=false|tag.gpgSign=false|")) << text;
    EXPECT_TRUE(contains(text, "ssh.sign = [\"git\"]")) << text;
    text = outcome(with("[commit]\\ngpgsign\\n", kSigns));
    EXPECT_TRUE(contains(text, "commit.gpgSign=false|")) << text;
    EXPECT_TRUE(contains(text, "sign them outside")) << text;
    EXPECT_FALSE(contains(text, "ssh.sign")) << text;
}

TEST(GitSigning, TheRepositoryAndIncludedFilesCount) {
    test::Case example = with("[includeIf \"gitdir:~/app/\"]\\npath = work.inc\\n");
    example.tree += "f /home/ann/work.inc 0644 [commit]\\ngpgsign = true\\n\n";
    EXPECT_TRUE(contains(outcome(example), "commit.gpgSign=false|"));
    example = with("[commit]\\ngpgsign = true\\n");
    const std::string_view own = "f /home/ann/app/.git/config\n";
    example.tree.replace(example.tree.find(own), own.size(),
                         "f /home/ann/app/.git/config 0644 [commit]\\ngpgsign = false\\n\n");
    EXPECT_EQ(outcome(example), "");
}

TEST(GitSigning, TheFilteredAgentSignsWithAKeyThatItMayUse) {
    const std::string expected = base::format("user.signingKey=key::ssh-ed25519 {}|", kKey);
    for (std::string_view key :
         {"~/.ssh/id.pub", "~/.ssh/id", "/home/ann/.ssh/id.pub",
          "key::ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIFi4aOnrThY7jwEdgV2KbdqSnEkRfBR5ry7YJmT3UNOk"})
        EXPECT_EQ(
            outcome(with(base::format("[user]\\nsigningkey = {}\\n[gpg]\\nformat = ssh\\n", key), kSigns)),
            expected)
            << key;
    EXPECT_EQ(
        outcome(with("[commit]\\ngpgsign = true\\n[gpg]\\nformat = ssh\\n[gpg \"ssh\"]\\nprogram = x\\n",
                     kSigns)),
        expected + "gpg.ssh.program=ssh-keygen|");
}

TEST(GitSigning, AnotherKeyAndAMissingAgentAreNamed) {
    constexpr std::string_view kAsked =
        "[user]\\nsigningkey = ~/.ssh/other.pub\\n[commit]\\ngpgsign = true\\n[gpg]\\nformat = ssh\\n";
    std::string text = outcome(with(kAsked, kSigns));
    EXPECT_TRUE(contains(text, "commit.gpgSign=false|")) << text;
    EXPECT_TRUE(contains(text, "is not in ssh.keys")) << text;
    test::Case example = with(kAsked, kSigns);
    example.environment.pop_back();
    text = outcome(example);
    EXPECT_TRUE(contains(text, "no ssh-agent")) << text;
}

TEST(GitSigning, AKeyThatTheUserHasShownIsUsed) {
    test::Case example = with("[commit]\\ngpgsign = true\\n",
                              "[sockets]\nallow_dangerous = [\"/run/user/1000/gnupg/S.gpg-agent\"]\n");
    example.tree += "s /run/user/1000/gnupg/S.gpg-agent\n";
    EXPECT_EQ(outcome(example), "");
}

}  // namespace
