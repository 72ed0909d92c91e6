// SPDX-License-Identifier: MIT
#include "policy/merge.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "policy/layers.h"
#include "policy/policy.h"

namespace {

using test::merged;
using test::texts;
using testing::AssertionFailure;
using testing::AssertionResult;
using testing::AssertionSuccess;

AssertionResult has(const std::vector<config::Item>& items, std::string_view text) {
    std::vector<std::string> all = texts(items);
    return std::ranges::find(all, text) != all.end() ? AssertionSuccess()
                                                     : AssertionFailure() << text << " is missing";
}

TEST(Merge, WithoutFilesTheTableDecides) {
    auto effective = merged({});
    ASSERT_TRUE(effective);
    policy::Policy policy = policy::policy_from(*effective);
    EXPECT_EQ(policy.home.access, policy::HomeAccess::tmpwrite);
    EXPECT_EQ(policy.network.mode, policy::NetworkMode::filtered);
    EXPECT_TRUE(policy.isolation.private_tmp);
    EXPECT_TRUE(has(policy.env.block_patterns, "AWS_*"));
    EXPECT_TRUE(has(policy.project.protect, ".git/hooks"));
}

TEST(Merge, LaterScalarsReplaceAndListsGrow) {
    auto effective = merged({.admin = "[home]\naccess = \"read\"\n[mounts]\nhidden = [\"/a\"]",
                             .user = "[home]\naccess = \"restricted\"\n[mounts]\nhidden = [\"/b\"]"});
    ASSERT_TRUE(effective) << effective.error().line();
    EXPECT_EQ(effective->text("home.access"), "restricted");
    EXPECT_EQ(effective->origin("home.access").layer, config::Layer::user);
    EXPECT_EQ(texts(effective->items("mounts.hidden")), (std::vector<std::string>{"/a", "/b"}));
}

TEST(Merge, AnEntryOfTwoLayersCountsOnceAndWhereItWasFirst) {
    auto effective = merged(
        {.admin = "[mounts]\nhidden = [\"/a\", \"/b\"]", .user = "[mounts]\nhidden = [\"/c\", \"/a\"]"});
    ASSERT_TRUE(effective) << effective.error().line();
    EXPECT_EQ(texts(effective->items("mounts.hidden")), (std::vector<std::string>{"/a", "/b", "/c"}));
    EXPECT_EQ(effective->items("mounts.hidden")[0].origin.layer, config::Layer::admin);
}

TEST(Merge, EveryEntryKeepsItsOrigin) {
    auto effective = merged({.user = "[mounts]\nhidden = [\n  \"/a\",\n  \"/b\",\n]"});
    ASSERT_TRUE(effective);
    EXPECT_EQ(effective->items("mounts.hidden")[1].origin.line, 4);
}

struct Refusal {
    const char* admin;
    const char* user;
    const char* message;
};

class CeilingRefuses : public testing::TestWithParam<Refusal> {};

TEST_P(CeilingRefuses, NamingBothOrigins) {
    auto effective = merged({.admin = GetParam().admin, .user = GetParam().user});
    ASSERT_FALSE(effective);
    std::string line = effective.error().line();
    EXPECT_NE(line.find(GetParam().message), std::string::npos) << line;
    EXPECT_NE(line.find("/etc/agent-sandbox/config.toml:"), std::string::npos) << line;
    EXPECT_NE(line.find("/home/ann/.config/agent-sandbox/config.toml:"), std::string::npos) << line;
}

INSTANTIATE_TEST_SUITE_P(
    Rules, CeilingRefuses,
    testing::Values(
        Refusal{"[network]\nmode = \"filtered\"", "[network]\nmode = \"open\"",
                "requires filtered or stricter"},
        Refusal{"[network]\nfallback = \"strict\"", "[network]\nfallback = \"stricter\"", "requires strict"},
        Refusal{"[network]\nmail_block = \"on\"", "[network]\nmail_block = \"auto\"", "requires on"},
        Refusal{"[home]\naccess = \"tmpwrite\"", "[home]\naccess = \"read\"",
                "requires tmpwrite or stricter"},
        Refusal{"[slurm]\nscope = \"project\"", "[slurm]\nscope = \"user\"", "requires project or stricter"},
        Refusal{"[isolation]\nprivate_tmp = true", "[isolation]\nprivate_tmp = false", "requires true"},
        Refusal{"[isolation]\nprivate_ipc = true", "[isolation]\nprivate_ipc = false", "requires true"},
        Refusal{"[isolation]\nfilter_passwd = true", "[isolation]\nfilter_passwd = false", "requires true"},
        Refusal{"[project]\nread_only = true", "[project]\nread_only = false", "requires true"},
        Refusal{"[env]\nmode = \"clean\"", "[env]\nmode = \"inherit\"", "requires clean"},
        Refusal{"[project]\nparents = [\"/lab\"]", "[project]\nparents = [\"/labrador\"]", "within its own"},
        Refusal{"[home]\nreadonly = [\".tools\"]", "[home]\nwritable = [\".tools/x\"]", "read-only"},
        Refusal{"[home]\nreadonly = [\".tools\"]", "[mounts]\nwritable = [\"~/.tools\"]", "read-only"},
        Refusal{"[mounts]\ndeny_writable = [\"/data\"]", "[mounts]\nwritable = [\"/data/x\"]", "read-only"},
        Refusal{"lock = [\"network.mode\"]\n[network]\nmode = \"filtered\"", "[network]\nmode = \"isolated\"",
                "locks it"},
        Refusal{"lock = [\"mounts.hidden\"]", "[mounts]\nhidden = [\"/x\"]", "locks it"}));

TEST(Ceiling, EqualAndStricterValuesPass) {
    auto effective =
        merged({.admin = "[network]\nmode = \"filtered\"", .user = "[network]\nmode = \"isolated\""});
    ASSERT_TRUE(effective) << effective.error().line();
    EXPECT_EQ(effective->text("network.mode"), "isolated");
}

TEST(Ceiling, AdminOnlySettingsAreRefusedBelow) {
    auto effective = merged({.user = "[mounts]\ndeny_writable = [\"/x\"]"});
    ASSERT_FALSE(effective);
    EXPECT_NE(effective.error().line().find("only be set by the administrator"), std::string::npos);
}

TEST(Ceiling, ParentsOutsideDoNotCountAndTheOthersStay) {
    auto effective = merged({.admin = "[project]\nparents = [\"/lab\", \"/home\"]",
                             .user = "[project]\nparents = [\"/lab/genomics\", \"/elsewhere\"]"});
    ASSERT_TRUE(effective) << effective.error().line();
    EXPECT_EQ(texts(effective->items("project.parents")), (std::vector<std::string>{"/lab/genomics"}));
    ASSERT_EQ(effective->warnings.size(), 1u);
    EXPECT_NE(effective->warnings[0].find("/elsewhere"), std::string::npos);
}

TEST(Ceiling, ParentsAreComparedByWhereLinksLead) {
    policy::Layers layers;
    layers.admin.push_back(test::layer(config::Layer::admin, "[project]\nparents = [\"/lab\"]"));
    layers.user.push_back(test::layer(config::Layer::user, "[project]\nparents = [\"/lab/link\"]"));
    policy::PathMeaning paths{.home = base::Path::known("/home/ann"),
                              .canonical = [](const base::Path& path) {
                                  return path.str() == "/lab/link" ? base::Path::known("/secret") : path;
                              }};
    EXPECT_FALSE(policy::merge(layers, paths));
}

TEST(Ceiling, AllowedHostsThatTheAdministratorBlocksAreStripped) {
    auto effective = merged({.admin = "[network]\nblock = [\"*.evil.example\"]",
                             .user = "[network]\nallow = [\"a.evil.example:443\", \"good.example\"]"});
    ASSERT_TRUE(effective);
    EXPECT_EQ(texts(effective->items("network.allow")), (std::vector<std::string>{"good.example"}));
    EXPECT_EQ(effective->warnings.size(), 1u);
}

TEST(Ceiling, VariablesThatTheAdministratorBlocksCanNeitherPassNorBeSet) {
    auto effective = merged(
        {.admin = "[env]\nblock = [\"SITE_KEY\"]\nblock_patterns = [\"LAB_*\"]",
         .user = "[env]\nallow = [\"SITE_KEY\", \"LAB_X\", \"FINE\"]\nset = { LAB_Y = \"1\", OK = \"2\" }"});
    ASSERT_TRUE(effective) << effective.error().line();
    EXPECT_EQ(texts(effective->items("env.allow")), (std::vector<std::string>{"FINE"}));
    EXPECT_EQ(texts(effective->items("env.set")), (std::vector<std::string>{"OK=2"}));
}

TEST(Ceiling, WarningsNeverCarryAValue) {
    auto effective =
        merged({.admin = "[env]\nblock = [\"SITE_KEY\"]", .user = "[env]\nset = { SITE_KEY = \"hunter2\" }"});
    ASSERT_TRUE(effective);
    ASSERT_EQ(effective->warnings.size(), 1u);
    EXPECT_EQ(effective->warnings[0].find("hunter2"), std::string::npos);
}

class ProjectMayNot : public testing::TestWithParam<const char*> {};

TEST_P(ProjectMayNot, WidenUnlessTrusted) {
    auto refused = merged({.project = GetParam()});
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().line().find(".agent-sandbox.toml:"), std::string::npos)
        << refused.error().line();
    EXPECT_NE(refused.error().line().find("agent-sandbox trust"), std::string::npos);
    auto trusted = merged({.project = GetParam(), .is_trusted = true});
    EXPECT_TRUE(trusted) << trusted.error().line();
}

INSTANTIATE_TEST_SUITE_P(
    Lines, ProjectMayNot,
    testing::Values("[network]\nmode = \"open\"", "[home]\naccess = \"write\"",
                    "[mounts]\nreadonly = [\"/data\"]", "[mounts]\nwritable = [\"/data\"]",
                    "[env]\nallow = [\"GITHUB_TOKEN\"]", "[env]\nset = { A = \"1\" }",
                    "[env]\nmode = \"inherit\"", "[project]\nunprotect = [\".vscode\"]",
                    "[project]\nunmask = [\".env\"]", "[isolation]\nprivate_tmp = false",
                    "[isolation]\nbackend = \"bwrap\"", "[sockets]\nallow = [\"/run/x\"]",
                    "[isolation]\nbwrap = \"/usr/bin/bwrap\"", "[ui]\nquiet = true", "[ui]\nverbose = false",
                    "[agents]\nnotice = false", "[audit]\nenabled = false", "[audit]\nsize = \"1K\"",
                    "[audit]\nkeep = \"1s\""));

// What a setting without an order does must not depend on the project: only the content of a masked file
// does.
TEST(Project, MaySetOneSettingWithoutAnOrder) {
    std::vector<std::string_view> neutral;
    for (const config::Setting& setting : config::settings()) {
        if (setting.order == config::Order::neutral) neutral.push_back(setting.key);
    }
    EXPECT_EQ(neutral, std::vector<std::string_view>{"project.mask_with"});
}

TEST(Project, MayBlockRequestsAndNothingElseAboutThem) {
    EXPECT_TRUE(merged({.project = "[requests]\nblock = [\"@github-lasting\"]"}).ok());
    for (const char* line : {"allow = [\"GET a.org/**\"]", "ask = [\"GET a.org/**\"]",
                             "git = [\"fetch a.org/**\"]", "opaque = [\"a.org\"]", "observe = true"}) {
        std::string project = std::string("[requests]\n") + line;
        EXPECT_FALSE(merged({.project = project}).ok()) << line;
    }
    EXPECT_FALSE(merged({.project = "[credentials]\nuse = [\"github\"]"}).ok());
    EXPECT_FALSE(merged({.project = "[audit]\npaths = true"}).ok());
}

TEST(Requests, TheAdministratorsEntriesStay) {
    auto effective = merged({.admin = "[requests]\nask = [\"POST a.org/**\"]\nblock = [\"* a.org/keys\"]",
                             .user = "[requests]\nask = [\"POST b.org/**\"]\nblock = [\"* a.org/keys\"]"});
    ASSERT_TRUE(effective.ok()) << effective.error().line();
    EXPECT_EQ(texts(effective->items("requests.ask")),
              (std::vector<std::string>{"POST a.org/**", "POST b.org/**"}));
    ASSERT_EQ(effective->items("requests.block").size(), 1u);
    EXPECT_EQ(effective->items("requests.block").front().origin.layer, config::Layer::admin);
    EXPECT_FALSE(
        merged({.admin = "[credentials]\nintercept = \"off\"", .user = "[credentials]\nintercept = \"on\""})
            .ok());
    // Off decrypts less, but without it no request is judged.
    EXPECT_FALSE(merged({.project = "[credentials]\nintercept = \"off\""}).ok());
    EXPECT_FALSE(merged({.admin = "[requests]\nobserve = false", .user = "[requests]\nobserve = true"}).ok());
    EXPECT_FALSE(merged({.admin = "lock = [\"credentials.use\"]\n[credentials]\nuse = [\"github\"]",
                         .user = "[credentials]\nuse = [\"npm\"]"})
                     .ok());
}

TEST(Project, MayNarrow) {
    auto effective = merged(
        {.project =
             "[network]\nmode = \"isolated\"\n[project]\nread_only = true\n[mounts]\nhidden = [\"/opt\"]"});
    ASSERT_TRUE(effective) << effective.error().line();
    EXPECT_EQ(effective->text("network.mode"), "isolated");
    EXPECT_TRUE(effective->is_true("project.read_only"));
}

TEST(Project, TrustDoesNotLiftTheCeiling) {
    auto effective = merged({.admin = "[network]\nmode = \"proxied\"",
                             .project = "[network]\nmode = \"open\"",
                             .is_trusted = true});
    EXPECT_FALSE(effective);
}

// ---- The network

TEST(NetworkCeiling, WhatTheAdministratorClosesStaysClosed) {
    using test::merged;
    EXPECT_FALSE(
        merged({.admin = "[network]\nliterals = \"deny\"", .user = "[network]\nliterals = \"allow\""}));
    EXPECT_FALSE(
        merged({.admin = "[network]\nmode = \"proxied\"", .user = "[network]\nmode = \"filtered\""}));
    EXPECT_FALSE(
        merged({.admin = "[network]\nfallback = \"strict\"", .user = "[network]\nfallback = \"stricter\""}));
    for (const char* entry : {"private = [\"10.0.0.0/8\"]", "udp = [\"a.org:123\"]",
                              "host_services = [\"5432\"]", "publish = [\"80\"]", "dns_types = [\"MX\"]"}) {
        std::string key(entry, std::string_view(entry).find(' '));
        const std::string user = "[network]\n" + std::string(entry),
                          lock = "lock = [\"network." + key + "\"]";
        EXPECT_TRUE(merged({.user = user})) << entry;
        EXPECT_FALSE(merged({.admin = lock, .user = user})) << entry;
        EXPECT_FALSE(merged({.project = user})) << "a project only narrows: " << entry;
    }
}

TEST(NetworkCeiling, TheAdministratorsBlockTakesOpeningsAway) {
    auto effective = test::merged(
        {.admin = "[network]\nblock = [\"10.0.0.0/8\", \"host.agent-sandbox.internal:22\", \"udp:443\"]",
         .user =
             "[network]\nprivate = [\"10.20.0.0/16\", \"192.168.1.0/24\"]\nudp = [\"a.org:443\", "
             "\"a.org:123\"]\nhost_services = [\"22\", \"10.1.2.3:80\", \"5432\"]\nallow = [\"a.org:443\"]"});
    ASSERT_TRUE(effective) << effective.error().line();
    auto texts = [&](std::string_view key) {
        std::vector<std::string> found;
        for (const config::Item& item : effective->items(key)) found.push_back(item.text);
        return found;
    };
    using Texts = std::vector<std::string>;
    EXPECT_EQ(texts("network.private"), Texts{"192.168.1.0/24"});
    EXPECT_EQ(texts("network.udp"), Texts{"a.org:123"});
    EXPECT_EQ(texts("network.host_services"), Texts{"5432"});
    EXPECT_EQ(texts("network.allow"), Texts{"a.org:443"});
    EXPECT_EQ(effective->warnings.size(), 4u);
}

TEST(NetworkCeiling, AProjectCantNameTheProxyAndNobodySeesItsPassword) {
    auto refused = test::merged({.project = "[network]\nupstream_proxy = \"http://evil.example.org:1\""});
    EXPECT_FALSE(refused);
    auto locked = test::merged({.admin = "lock = [\"network.upstream_proxy\"]",
                                .user = "[network]\nupstream_proxy = \"http://ann:hunter2@proxy:1\""});
    ASSERT_FALSE(locked);
    EXPECT_EQ(locked.error().line().find("hunter2"), std::string::npos);
}

}  // namespace
