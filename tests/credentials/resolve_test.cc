// SPDX-License-Identifier: MIT
#include "credentials/resolve.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "policy/layers.h"

namespace credentials {
namespace {

struct Files {
    std::string_view admin, user, more, preset;
};

policy::Layers layers_of(const Files& files) {
    policy::Layers layers;
    if (!files.admin.empty()) layers.admin.push_back(test::layer(config::Layer::admin, files.admin));
    if (!files.user.empty()) layers.user.push_back(test::layer(config::Layer::user, files.user));
    if (!files.more.empty()) layers.user.push_back(test::layer(config::Layer::user, files.more));
    if (!files.preset.empty()) layers.preset.push_back(test::layer(config::Layer::preset, files.preset));
    return layers;
}

policy::Policy policy_of(const policy::Layers& layers) {
    base::Result<policy::Effective> effective = policy::merge(layers, test::paths());
    EXPECT_TRUE(effective.ok()) << effective.error().line();
    return policy::policy_from(*effective);
}

base::Result<Resolved> resolved(const Files& files) {
    policy::Layers layers = layers_of(files);
    return resolve(layers, policy_of(layers));
}

std::string complaint(const Files& files) {
    base::Result<Resolved> made = resolved(files);
    return made.ok() ? "" : made.error().line();
}

TEST(Resolve, ASessionWithoutCredentialsHasNothing) {
    auto made = resolved({.user = "[credential.tracker]\nput = \"nonsense that nobody reads\""});
    ASSERT_TRUE(made.ok()) << made.error().line();
    EXPECT_TRUE(made->is_empty());
    EXPECT_FALSE(made->rules.names("api.github.com", 443));
}

TEST(Resolve, TakesAPresetAsItIs) {
    auto made = resolved({.user = "[credentials]\nuse = [\"github\", \"anthropic\"]"});
    ASSERT_TRUE(made.ok()) << made.error().line();
    ASSERT_EQ(made->credentials.size(), 2u);
    EXPECT_EQ(made->credentials[0].name, "github");
    EXPECT_EQ(made->credentials[0].source.kind, Source::Kind::none);
    EXPECT_EQ(made->credentials[0].use_origin.line, 2);
    EXPECT_EQ(made->owner_of("GH_TOKEN"), &made->credentials[0]);
    EXPECT_EQ(made->owner_of("ANTHROPIC_API_KEY"), &made->credentials[1]);
    EXPECT_EQ(made->owner_of("HOME"), nullptr);
    EXPECT_FALSE(made->has_rules);
    EXPECT_FALSE(made->is_empty());
}

TEST(Resolve, LaterFilesChangeSingleKeys) {
    auto made =
        resolved({.user = "credentials.use = [\"github\"]\n[credential.github]\npaths = [\"/me/**\"]\n"
                          "from_file = \"~/token\"",
                  .more = "[credential.github]\nfrom_command = [\"gh\", \"auth\", \"token\"]",
                  .preset = "[credential.github]\nlifetime = \"5m\""});
    ASSERT_TRUE(made.ok()) << made.error().line();
    const Credential& github = made->credentials.at(0);
    EXPECT_EQ(github.paths.size(), 1u);
    EXPECT_EQ(github.source.describe(), "the command gh auth token")
        << "the later source replaces the earlier";
    EXPECT_EQ(github.lifetime, 300);
    EXPECT_FALSE(github.probe) << "the preset's request is outside of these paths";
    EXPECT_EQ(github.variables.size(), 2u) << "the preset's";
}

TEST(Resolve, TheAdministratorsKeysAreFinal) {
    constexpr std::string_view kAdmin =
        "[credential.github]\npaths = [\"/lab/**\"]\nfrom_file = \"/lab/token\"";
    constexpr std::string_view kUse = "[credentials]\nuse = [\"github\"]\n";
    auto with = [&](std::string_view lines) {
        std::string user = std::string(kUse) + "[credential.github]\n" + std::string(lines);
        return complaint({.admin = kAdmin, .user = user});
    };
    EXPECT_EQ(with("lifetime = \"5m\""), "");
    EXPECT_NE(with("paths = [\"/**\"]").find("/etc/agent-sandbox/config.toml:2"), std::string::npos)
        << with("paths = [\"/**\"]");
    EXPECT_NE(with("paths = [\"/**\"]").find("config.toml:4"), std::string::npos);
    // Another kind of source is another value.
    EXPECT_NE(with("from_env = \"MY_TOKEN\""), "");
}

TEST(Resolve, ComplaintsNameThePlace) {
    std::string unknown = complaint({.user = "[credentials]\nuse = [\"gihtub\"]"});
    EXPECT_NE(unknown.find("'github' was probably meant"), std::string::npos) << unknown;
    EXPECT_NE(unknown.find("config.toml:2"), std::string::npos) << unknown;
    std::string missing = complaint({.user = "[credentials]\nuse = [\"zzz\"]"});
    EXPECT_NE(missing.find("[credential.zzz]"), std::string::npos) << missing;
    std::string twice = complaint(
        {.user =
             "credentials.use = [\"github\", \"mine\"]\n[credential.mine]\nhosts = [\"git.example.org\"]\n"
             "put = \"bearer\"\nvariable = \"GH_TOKEN\"\nshape = \"{40}\""});
    EXPECT_NE(twice.find("github and mine both put a placeholder into GH_TOKEN"), std::string::npos) << twice;
    std::string rule = complaint({.user = "[requests]\nblock = [\"@github-lastin\"]"});
    EXPECT_NE(rule.find("config.toml:2"), std::string::npos) << rule;
    EXPECT_NE(rule.find("@github-lasting"), std::string::npos) << rule;
}

TEST(Resolve, HasALimit) {
    std::string user = "credentials.use = [";
    for (int i = 0; i < 33; ++i) user += base::format("\"c{}\",", i);
    EXPECT_NE(complaint({.user = user + "]"}).find("32 is the limit"), std::string::npos);
}

TEST(Resolve, TheAdministratorsRulesStay) {
    auto made = resolved(
        {.admin = "[requests]\nallow = [\"GET api.github.com/**\"]\nblock = [\"* api.github.com/gists\"]",
         .user = "[requests]\nallow = [\"* api.github.com/**\", \"GET api.github.com/gists\"]\n"
                 "opaque = [\"api.github.com\"]"});
    ASSERT_TRUE(made.ok()) << made.error().line();
    using network::requests::Decision;
    auto decision = [&](std::string_view method, std::string_view target) {
        return made->rules.judge({.host = "api.github.com", .method = method, .target = target}).decision;
    };
    EXPECT_EQ(decision("GET", "/user"), Decision::permitted);
    EXPECT_EQ(decision("POST", "/user"), Decision::refused) << "beyond the ceiling";
    EXPECT_EQ(decision("GET", "/gists"), Decision::refused);
    EXPECT_FALSE(made->rules.is_opaque("api.github.com", 443));
}

TEST(Resolve, NeedsAGateway) {
    auto status = [](const Files& files) {
        policy::Layers layers = layers_of(files);
        policy::Policy policy = policy_of(layers);
        auto made = resolve(layers, policy);
        EXPECT_TRUE(made.ok()) << made.error().line();
        return check_network(*made, policy);
    };
    constexpr std::string_view kBlock = "[requests]\nblock = [\"@github-lasting\"]";
    for (std::string mode : {"open", "isolated"}) {
        std::string user = "network.mode = \"" + mode + "\"\n[credentials]\nuse = [\"github\"]";
        base::Status with = status({.user = user});
        ASSERT_FALSE(with.ok()) << mode;
        EXPECT_EQ(with.error().exit_code, base::ExitCode::jail_failed);
        EXPECT_TRUE(status({.user = "network.mode = \"" + mode + "\""}).ok());
    }
    EXPECT_FALSE(status({.admin = kBlock, .user = "network.mode = \"open\""}).ok());
    EXPECT_TRUE(status({.admin = kBlock, .user = "network.mode = \"isolated\""}).ok());
    EXPECT_TRUE(status({.user = "network.mode = \"proxied\"\n[credentials]\nuse = [\"github\"]"}).ok());
}

}  // namespace
}  // namespace credentials
