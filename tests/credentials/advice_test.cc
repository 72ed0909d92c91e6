// SPDX-License-Identifier: MIT
#include "credentials/advice.h"

#include <gtest/gtest.h>

#include "config/profile.h"
#include "policy/layers.h"

namespace credentials {
namespace {

struct Settled {
    policy::Policy policy;
    base::Status status = base::success();
    std::vector<std::string> lines = {};
};

Settled settled(const test::Toml& toml, const std::vector<std::string>& environment = {},
                const policy::Layers& layers = {}) {
    base::Result<policy::Effective> effective = test::merged(toml);
    EXPECT_TRUE(effective.ok()) << effective.error().line();
    Settled result{.policy = policy::policy_from(*effective)};
    base::Result<Resolved> resolved = resolve(layers, result.policy);
    EXPECT_TRUE(resolved.ok()) << resolved.error().line();
    base::Result<std::vector<std::string>> lines = settle_variables(*resolved, environment, result.policy);
    if (!lines) result.status = lines.error();
    if (lines) result.lines = *lines;
    return result;
}

std::string refusal(const test::Toml& toml, const policy::Layers& layers = {}) {
    Settled result = settled(toml, {}, layers);
    if (result.status) return "";
    EXPECT_EQ(result.status.error().exit_code, base::ExitCode::jail_failed);
    return result.status.error().line();
}

bool has(const policy::Items& items, std::string_view text) {
    return std::ranges::find(items, text, &config::Item::text) != items.end();
}

TEST(Variables, NeverInsideRefusesThemAndNamesTheCredential) {
    constexpr std::string_view kAdmin = "[credentials]\nnever_inside = [\"*_API_KEY\"]";
    std::string preset = refusal({.admin = kAdmin, .user = "[env]\nallow = [\"ANTHROPIC_API_KEY\"]"});
    EXPECT_NE(preset.find("--credential anthropic"), std::string::npos) << preset;
    EXPECT_NE(preset.find("/etc/agent-sandbox/config.toml:2"), std::string::npos) << preset;
    std::string other = refusal({.admin = kAdmin, .user = "[env]\nset = { MY_API_KEY = \"canary\" }"});
    EXPECT_NE(other.find("variable = \"MY_API_KEY\""), std::string::npos) << other;
    EXPECT_EQ(other.find("canary"), std::string::npos) << other;
    EXPECT_EQ(refusal({.admin = kAdmin, .user = "[env]\nallow = [\"MY_API_KEYS\"]"}), "");
    Settled quiet = settled({.admin = kAdmin});
    EXPECT_TRUE(has(quiet.policy.env.block_patterns, "*_API_KEY")) << "also where all variables pass";
}

TEST(Variables, OneWithAPlaceholderCantPassToo) {
    constexpr std::string_view kUse = "credentials.use = [\"github\"]\n";
    std::string line = refusal({.user = std::string(kUse) + "[env]\nallow = [\"GH_TOKEN\"]"});
    EXPECT_NE(line.find("placeholder of the credential github"), std::string::npos) << line;
    EXPECT_NE(refusal({.user = std::string(kUse) + "[env]\nset = { GITHUB_TOKEN = \"x\" }"}), "");
    Settled alone = settled({.user = kUse});
    ASSERT_TRUE(alone.status.ok());
    EXPECT_TRUE(has(alone.policy.env.block, "GH_TOKEN"));
    EXPECT_EQ(refusal({.user = "[env]\nallow = [\"GH_TOKEN\"]"}), "")
        << "the control: without the credential";
}

// An agent's profile passes its own key by default, and the user did not ask for it.
TEST(Variables, OfAProfileAreDropped) {
    config::LayerFile profile =
        test::layer(config::Layer::profile, "[env]\nallow = [\"ANTHROPIC_API_KEY\", \"LANG\"]");
    Settled result = settled({.user = "[credentials]\nuse = [\"anthropic\"]", .profile = &profile});
    ASSERT_TRUE(result.status.ok()) << result.status.error().line();
    EXPECT_FALSE(has(result.policy.env.allow, "ANTHROPIC_API_KEY"));
    EXPECT_TRUE(has(result.policy.env.allow, "LANG"));
}

// The value of the credential is in it.
TEST(Variables, TheSourceOfAValueCantPass) {
    policy::Layers layers;
    layers.user.push_back(test::layer(config::Layer::user, "[credential.anthropic]\nfrom_env = \"MY_KEY\""));
    const std::string use = "credentials.use = [\"anthropic\"]\n";
    std::string line = refusal({.user = use + "[env]\nallow = [\"MY_KEY\"]"}, layers);
    EXPECT_NE(line.find("MY_KEY is the source of the credential anthropic"), std::string::npos) << line;
    EXPECT_NE(refusal({.user = use + "[env]\nset = { MY_KEY = \"x\" }"}, layers), "");
    EXPECT_EQ(refusal({.user = "[env]\nallow = [\"MY_KEY\"]"}, layers), "") << "the control";
    config::LayerFile profile = test::layer(config::Layer::profile, "[env]\nallow = [\"MY_KEY\"]");
    Settled result = settled({.user = use, .profile = &profile}, {"MY_KEY=canary-5f1c9a7e"}, layers);
    ASSERT_TRUE(result.status.ok()) << result.status.error().line();
    EXPECT_FALSE(has(result.policy.env.allow, "MY_KEY"));
    EXPECT_TRUE(has(result.policy.env.block, "MY_KEY")) << "also where all variables pass";
}

TEST(Variables, OneWithTheSameValueAsTheSourceIsDropped) {
    policy::Layers layers;
    layers.user.push_back(test::layer(config::Layer::user, "[credential.anthropic]\nfrom_env = \"MY_KEY\""));
    Settled result =
        settled({.user = "credentials.use = [\"anthropic\"]\n[env]\nallow = [\"COPY\", \"LANG\"]\n"
                         "set = { THIRD = \"canary-5f1c9a7e\", FOURTH = \"harmless\" }"},
                {"MY_KEY=canary-5f1c9a7e", "COPY=canary-5f1c9a7e", "OTHER=canary-5f1c9a7e", "LANG=C.UTF-8",
                 "MY_KEYS=short"},
                layers);
    ASSERT_TRUE(result.status.ok()) << result.status.error().line();
    EXPECT_FALSE(has(result.policy.env.allow, "COPY"));
    EXPECT_TRUE(has(result.policy.env.allow, "LANG"));
    EXPECT_FALSE(has(result.policy.env.set, "THIRD=canary-5f1c9a7e"));
    EXPECT_TRUE(has(result.policy.env.set, "FOURTH=harmless"));
    for (const char* name : {"COPY", "OTHER"}) EXPECT_TRUE(has(result.policy.env.block, name)) << name;
    for (const char* name : {"LANG", "MY_KEYS"}) EXPECT_FALSE(has(result.policy.env.block, name)) << name;
    ASSERT_EQ(result.lines.size(), 2u);
    EXPECT_NE(result.lines[0].find("COPY stays outside"), std::string::npos) << result.lines[0];
    for (const std::string& line : result.lines) EXPECT_EQ(line.find("canary"), std::string::npos) << line;
}

// The agent would take the real key instead of the placeholder.
TEST(Variables, FurtherKeysOfTheAgentsProviderAreDropped) {
    config::LayerFile profile = test::layer(
        config::Layer::profile,
        "[env]\nallow = [\"ANTHROPIC_API_KEY\", \"ANTHROPIC_AUTH_TOKEN\", \"CLAUDE_CODE_OAUTH_TOKEN\", "
        "\"OPENROUTER_API_KEY\"]");
    const std::vector<std::string> environment = {"ANTHROPIC_AUTH_TOKEN=first-canary",
                                                  "CLAUDE_CODE_OAUTH_TOKEN=second-canary",
                                                  "OPENROUTER_API_KEY=of-another-provider"};
    Settled result =
        settled({.user = "[credentials]\nuse = [\"anthropic\"]", .profile = &profile}, environment);
    ASSERT_TRUE(result.status.ok()) << result.status.error().line();
    for (const char* name : {"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"}) {
        EXPECT_FALSE(has(result.policy.env.allow, name)) << name;
        EXPECT_TRUE(has(result.policy.env.block, name)) << name;
    }
    EXPECT_TRUE(has(result.policy.env.allow, "OPENROUTER_API_KEY"));
    ASSERT_EQ(result.lines.size(), 2u);
    EXPECT_NE(result.lines[0].find("the agent uses the credential anthropic"), std::string::npos);
    Settled without = settled({.profile = &profile}, environment);
    EXPECT_TRUE(has(without.policy.env.allow, "ANTHROPIC_AUTH_TOKEN")) << "the control";
}

TEST(Advice, FindsAllowsThatLiftAListsBlock) {
    auto lines = [](const test::Toml& toml) {
        base::Result<policy::Effective> effective = test::merged(toml);
        base::Result<std::vector<std::string>> found = weakened_rules(policy::policy_from(*effective));
        EXPECT_TRUE(found.ok()) << found.error().line();
        return *found;
    };
    auto with = [&](std::string_view allow) {
        return lines(
            {.user = "[requests]\nblock = [\"@github-lasting\"]\nallow = [\"" + std::string(allow) + "\"]"});
    };
    std::vector<std::string> lifted = with("POST api.github.com/repos/me/app/**");
    ASSERT_EQ(lifted.size(), 1u) << "one line for a list";
    EXPECT_NE(lifted.front().find("config.toml:3"), std::string::npos) << lifted.front();
    EXPECT_NE(lifted.front().find("@github-lasting"), std::string::npos) << lifted.front();
    EXPECT_TRUE(with("GET api.github.com/repos/me/app/**").empty());
    EXPECT_TRUE(with("POST api.github.com/repos/me/app/issues").empty());
    EXPECT_TRUE(with("POST api.github.com/**").empty()) << "less specific";
    EXPECT_TRUE(with("POST api.example.org/repos/me/app/**").empty());
    EXPECT_TRUE(lines({.admin = "[requests]\nblock = [\"@github-lasting\"]",
                       .user = "[requests]\nallow = [\"POST api.github.com/repos/me/app/**\"]"})
                    .empty())
        << "the administrator's block holds";
}

TEST(Advice, FindsHostsThatEntriesAboutPushesLeaveOpen) {
    auto lines = [](std::string_view entries) {
        const std::string text = "[requests]\n" + std::string(entries);
        base::Result<policy::Effective> effective = test::merged({.user = text});
        base::Result<std::vector<std::string>> found = weakened_rules(policy::policy_from(*effective));
        EXPECT_TRUE(found.ok()) << found.error().line();
        return *found;
    };
    std::vector<std::string> open = lines(
        "git = [\"push huggingface.co/me/app refs/heads/agent/*\", \"push huggingface.co/me/b "
        "refs/heads/x\"]");
    ASSERT_EQ(open.size(), 1u) << "one line for a host";
    EXPECT_NE(open.front().find("add 'GET huggingface.co/**' to requests.allow"), std::string::npos)
        << open.front();
    EXPECT_TRUE(
        lines("git = [\"push huggingface.co/me/app refs/heads/x\"]\nallow = [\"GET huggingface.co/**\"]")
            .empty());
    EXPECT_TRUE(lines("git = [\"fetch huggingface.co/me/app\"]").empty());
    EXPECT_TRUE(lines("git = [\"push github.com/me/app refs/heads/x\"]").empty());
}

TEST(Advice, KnowsWhenPathsOverlap) {
    for (auto [left, right] : {std::pair{"/a/*/c", "/a/b/**"},
                               {"/**", "/"},
                               {"/a/**", "/a"},
                               {"/a/b*", "/a/*c"},
                               {"/**/x", "/a/*/x"}})
        EXPECT_TRUE(paths_overlap(left, right) && paths_overlap(right, left)) << left << " " << right;
    for (auto [left, right] : {std::pair{"/a/b", "/a/c"},
                               {"/a/*", "/a"},
                               {"/a/*/c", "/a/b/d"},
                               {"/**/x", "/a/*/y"},
                               {"/a/b*", "/a/cb"}})
        EXPECT_FALSE(paths_overlap(left, right) || paths_overlap(right, left)) << left << " " << right;
}

}  // namespace
}  // namespace credentials
