// SPDX-License-Identifier: MIT
#include "config/profile.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace config {
namespace {

std::vector<ProfileText> built_in() {
    base::Result<std::vector<ProfileText>> found =
        find_profiles({.admin_directory = "/nowhere", .user_directory = "/nowhere"});
    EXPECT_TRUE(found);
    return *found;
}

std::string recognised(const std::vector<std::string>& command) {
    base::Result<std::optional<Profile>> profile = profile_for(built_in(), command);
    EXPECT_TRUE(profile) << profile.error().line();
    return profile && *profile ? (*profile)->name : "";
}

TEST(Profile, BuiltInOnesAreWellFormed) {
    std::vector<ProfileText> found = built_in();
    for (const char* name : {"aider", "claude", "codex", "gemini", "opencode", "pi"}) {
        auto text = std::ranges::find(found, name, &ProfileText::name);
        ASSERT_NE(text, found.end()) << name;
        base::Result<Profile> profile = parse_profile(*text);
        ASSERT_TRUE(profile) << profile.error().line();
        EXPECT_FALSE(profile->login.empty()) << name;
        EXPECT_TRUE(profile->layer.values.contains("network.allow")) << name;
        EXPECT_TRUE(profile->layer.values.contains("env.allow")) << name;
    }
}

TEST(Profile, StateAndCredentialsAreOrdinarySettings) {
    base::Result<Profile> profile = parse_profile({"mine", "mine.toml", R"([agent]
commands = ["mine"]
state = [".mine"]
credentials = ["MINE_KEY"]
)"});
    ASSERT_TRUE(profile) << profile.error().line();
    EXPECT_EQ(profile->layer.values.at("home.writable").items.front().text, ".mine");
    EXPECT_EQ(profile->layer.values.at("env.allow").items.front().text, "MINE_KEY");
    EXPECT_EQ(profile->layer.values.at("home.writable").origin.layer, Layer::profile);
    for (const auto& [key, value] : profile->layer.values) EXPECT_FALSE(key.starts_with("agent.")) << key;
}

TEST(Profile, MistakesAreNamedWithTheirPlace) {
    struct {
        const char* text;
        const char* expected;
    } cases[] = {
        {"[agent]\ncommands = [\"x\"]\nstaet = [\".x\"]\n", "bad.toml:3:1"},
        {"[agent]\ntitle = \"X\"\n", "agent.commands"},
        {"[agent]\ncommands = [\"x\"]\nstate = [\"/etc\"]\n", "bad.toml:3"},
        {"[agent]\ncommands = [\"x\"]\n[agent.files]\n\"/usr/bin/x\" = \"\"\n", "below /etc or ~"},
        {"[agent]\ncommands = [\"x\"]\n[agent.files]\n\"/etc/../root/x\" = \"\"\n", "below /etc or ~"},
    };
    for (const auto& [text, expected] : cases) {
        base::Result<Profile> profile = parse_profile({"bad", "bad.toml", text});
        ASSERT_FALSE(profile) << text;
        EXPECT_NE(profile.error().line().find(expected), std::string::npos) << profile.error().line();
    }
}

TEST(Profile, TheSectionBelongsToProfilesAlone) {
    for (Layer layer : {Layer::user, Layer::admin, Layer::project, Layer::preset}) {
        ParsedFile parsed = parse_layer(layer, "config.toml", "[agent]\ncommands = [\"x\"]\n");
        EXPECT_FALSE(parsed.problems.empty());
    }
}

TEST(Profile, IsRecognisedBehindWhatOnlyStartsIt) {
    EXPECT_EQ(recognised({"claude"}), "claude");
    EXPECT_EQ(recognised({"/opt/tools/bin/claude", "-p", "x"}), "claude");
    EXPECT_EQ(recognised({"claude.exe"}), "claude");
    EXPECT_EQ(recognised({"env", "A=b", "-u", "C", "nice", "-n", "5", "codex", "exec"}), "codex");
    EXPECT_EQ(recognised({"timeout", "10m", "gemini"}), "gemini");
    EXPECT_EQ(recognised({"npx", "-y", "@openai/codex@0.166.0", "exec"}), "codex");
    EXPECT_EQ(recognised({"npm", "exec", "--", "opencode-ai"}), "opencode");
    EXPECT_EQ(recognised({"bunx", "opencode"}), "opencode");
    EXPECT_EQ(recognised({"node", "--no-warnings", "/x/node_modules/@google/gemini-cli/bundle/gemini.js"}),
              "gemini");
    EXPECT_EQ(recognised({"python3", "-m", "aider"}), "aider");
}

TEST(Profile, IsRecognisedInEitherQuotes) {
    for (const char* commands : {"[\"mine\"]", "['mine']"}) {
        std::vector<ProfileText> found = {
            {"mine", "mine.toml",
             std::string("[agent]\ncommands = ") + commands + "\npackages = ['@me/mine']\n"}};
        for (const char* program : {"mine", "/opt/bin/mine.js", "@me/mine@1.0"}) {
            base::Result<std::optional<Profile>> profile = profile_for(found, {program});
            ASSERT_TRUE(profile);
            EXPECT_TRUE(profile->has_value()) << commands << " " << program;
        }
    }
}

TEST(Profile, OthersAreNot) {
    EXPECT_EQ(recognised({"bash"}), "");
    EXPECT_EQ(recognised({"bash", "-c", "claude"}), "");
    EXPECT_EQ(recognised({"claude-like"}), "");
    EXPECT_EQ(recognised({"npm", "install", "claude"}), "");
    EXPECT_EQ(recognised({"node", "/x/node_modules/other/cli.js"}), "");
    EXPECT_EQ(recognised({"env"}), "");
    EXPECT_EQ(recognised({}), "");
}

TEST(Profile, AnUnknownNameGetsTheNearestOne) {
    base::Result<Profile> profile = profile_named(built_in(), "cluade", {});
    ASSERT_FALSE(profile);
    EXPECT_NE(profile.error().advice.find("claude"), std::string::npos);
}

}  // namespace
TEST(Profile, OptionsThatSwitchOnASandboxOfTheAgentsOwnAreFoundInEverySpelling) {
    auto profile = profile_named(built_in(), "codex", {});
    ASSERT_TRUE(profile) << profile.error().line();
    using Words = std::vector<std::string>;
    for (const Words& words :
         {Words{"codex", "exec", "-s", "workspace-write", "x"}, Words{"codex", "-sread-only"},
          Words{"codex", "-s=read-only"}, Words{"codex", "--sandbox=workspace-write"},
          Words{"codex", "--sandbox", "read-only"}, Words{"codex", "exec", "--full-auto", "x"},
          Words{"nice", "npx", "@openai/codex", "-s", "workspace-write"}}) {
        EXPECT_TRUE(own_sandbox_option(*profile, words)) << words[1];
    }
    for (const Words& words :
         {Words{"codex", "exec", "-s", "danger-full-access", "x"}, Words{"codex", "exec", "x"},
          Words{"codex", "exec", "--", "-s", "workspace-write"}, Words{"codex", "-s"}, Words{"codex"},
          Words{"codex", "--sandboxed"}, Words{}}) {
        EXPECT_FALSE(own_sandbox_option(*profile, words)) << words.size();
    }
}

}  // namespace config
