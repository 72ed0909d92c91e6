// SPDX-License-Identifier: MIT
// From the settings to the gateway's configuration.
#include <gtest/gtest.h>

#include "plan/case.h"
#include "plan/print/explain.h"
#include "plan/print/print.h"

namespace {

using Ports = std::vector<uint16_t>;

plan::Plan planned(const std::string& network, std::vector<std::string> environment = {}) {
    environment.push_back("HOME=/home/ann");
    auto plan = test::planned({.toml = {.user = "[network]\n" + network}, .environment = environment});
    if (!plan) {
        ADD_FAILURE() << plan.error().line();
        return {};
    }
    return *std::move(plan);
}

std::string refusal(const std::string& network) {
    auto plan = test::planned({.toml = {.user = "[network]\n" + network}});
    return plan ? "" : plan.error().where + ": " + plan.error().line();
}

bool has_note(const plan::Plan& plan, std::string_view part) {
    for (const plan::Note& note : plan.notes)
        if (note.text.find(part) != std::string::npos) return true;
    return false;
}

TEST(Egress, HasTheEntriesWithTheirOrigins) {
    plan::Plan plan = planned(R"(mode = "proxied"
allow = ["example.org:8443", "udp:time.example.org:123"]
block = ["*.bad.example.org"]
private = ["10.20.0.0/16"]
udp = ["stun.example.org:3478-3480"]
host_services = ["5432", "10.1.2.3:6000"]
publish = ["8080:80"]
dns_types = ["MX", "srv"]
literals = "allow")");
    const network::Egress& egress = plan.network.egress;
    EXPECT_EQ(egress.rules.mode, policy::NetworkMode::proxied);
    EXPECT_TRUE(egress.rules.are_literals_open);
    EXPECT_TRUE(egress.needs_gateway());
    EXPECT_EQ(egress.udp_ports, (Ports{123, 3478, 3479, 3480}));
    EXPECT_EQ(egress.tcp_ports, (Ports{5432, 6000, 8443}));
    EXPECT_EQ(egress.passed_types, (Ports{15, 33}));
    ASSERT_EQ(egress.published.size(), 1u);
    EXPECT_EQ(egress.published[0].host_port, 8080);
    EXPECT_EQ(egress.published[0].jail_port, 80);
    ASSERT_EQ(egress.rules.block.size(), 1u);
    EXPECT_EQ(egress.rules.block[0].origin.line, 4);
}

TEST(Egress, AnEntryThatCantBeReadStopsTheLaunch) {
    const char* const kWrong[] = {
        "allow = [\"*.com\"]",
        "block = [\"http://example.org/\"]",
        "private = [\"127.0.0.0/8\"]",
        "private = [\"8.8.8.0/24\"]",
        "udp = [\"example.org\"]",
        "udp = [\"example.org:1-300\"]",
        "allow = [\"udp:a.org\"]",
        "dns_types = [\"HTTPS\"]",
        "dns_types = [\"WORD\"]",
        "host_services = [\"127.0.0.1:80\"]",
        "host_services = [\"25\"]",
        "host_services = [\"169.254.169.254:80\"]",
        "publish = [\"0\"]",
        "publish = [\"80:a\"]",
        "publish = [\"80:1\",\"80:2\"]",
        "upstream_proxy = \"socks5://a.org:1080\"",
    };
    for (const char* setting : kWrong) {
        std::string said = refusal(setting);
        EXPECT_TRUE(said.find("config.toml:2: ") != std::string::npos) << setting << ": " << said;
    }
}

TEST(Egress, AnEntryWithoutEffectIsSaid) {
    EXPECT_TRUE(has_note(planned("allow = [\"example.org:25\"]"), "port 25 is closed"));
    EXPECT_TRUE(has_note(planned("mode = \"open\"\npublish = [\"80\"]"), "not needed"));
    EXPECT_TRUE(has_note(planned("mode = \"isolated\"\nallow = [\"a.org\"]"), "open nothing"));
    EXPECT_FALSE(has_note(planned("allow = [\"example.org\"]"), "entry"));
}

TEST(Egress, AnOpenNetworkNeedsNobodyAndAPublishedPortDoes) {
    EXPECT_FALSE(planned("mode = \"open\"\npublish = [\"80\"]").network.egress.needs_gateway());
    EXPECT_FALSE(planned("mode = \"isolated\"").network.egress.needs_gateway());
    EXPECT_TRUE(planned("mode = \"isolated\"\npublish = [\"80\"]").network.egress.needs_gateway());
}

TEST(Egress, TheSitesProxyIsTheGatewaysAndStaysOutside) {
    plan::Plan plan = planned("", {"HTTPS_PROXY=http://ann:hunter2@proxy.example.org:3128",
                                   "no_proxy=localhost,.lab.example.org", "env_probe=1"});
    ASSERT_TRUE(plan.network.egress.upstream);
    EXPECT_EQ(plan.network.egress.upstream->host, "proxy.example.org");
    EXPECT_EQ(plan.network.egress.upstream->port, 3128);
    EXPECT_EQ(plan.network.egress.upstream->authorization, "Basic YW5uOmh1bnRlcjI=");
    EXPECT_FALSE(plan.network.egress.upstream->is_for(*network::HostName::parse("db.lab.example.org")));
    for (const plan::Variable& variable : plan.environment.passed)
        EXPECT_EQ(variable.name.find("roxy"), std::string::npos) << variable.name;
    EXPECT_EQ(plan::explain_variable(plan, "HTTPS_PROXY").change, "");
    std::string shown = plan::to_json(plan).dump() + plan::to_text(plan);
    EXPECT_EQ(shown.find("hunter2"), std::string::npos);
    EXPECT_EQ(shown.find("YW5u"), std::string::npos);
    EXPECT_NE(shown.find("proxy.example.org:3128"), std::string::npos);
}

TEST(Egress, TheSettingDecidesBeforeTheVariables) {
    const std::vector<std::string> variables = {"http_proxy=http://other.example.org:1"};
    EXPECT_EQ(
        planned("upstream_proxy = \"http://own.example.org:8080/\"", variables).network.egress.upstream->host,
        "own.example.org");
    EXPECT_EQ(planned("", variables).network.egress.upstream->host, "other.example.org");
    EXPECT_FALSE(planned("upstream_proxy = \"none\"", variables).network.egress.upstream);
    plan::Plan odd = planned("", {"ALL_PROXY=socks5://ann:hunter2@a.example.org:1080"});
    EXPECT_FALSE(odd.network.egress.upstream);
    EXPECT_TRUE(has_note(odd, "without it"));
    EXPECT_FALSE(has_note(odd, "hunter2"));
}

TEST(Egress, OnAnOpenNetworkTheProxyVariablesPass) {
    plan::Plan plan = planned("mode = \"open\"", {"http_proxy=http://proxy.example.org:3128"});
    EXPECT_TRUE(plan::explain_variable(plan, "http_proxy").is_allowed);
    EXPECT_FALSE(plan.network.egress.upstream);
}

TEST(Egress, EnvAllowDoesNotLetAProxyIn) {
    auto plan =
        test::planned({.toml = {.user = "[env]\nallow = [\"HTTP_PROXY\"]"},
                       .environment = {"HOME=/home/ann", "HTTP_PROXY=http://proxy.example.org:3128"}});
    ASSERT_TRUE(plan);
    EXPECT_FALSE(plan::explain_variable(*plan, "HTTP_PROXY").is_allowed);
}

TEST(Egress, NamesAreTheGatewaysInside) {
    plan::Plan plan = planned("host_services = [\"5432\"]");
    ASSERT_TRUE(test::mount_at(plan, "/etc/resolv.conf"));
    EXPECT_NE(test::mount_at(plan, "/etc/resolv.conf")->source.find("nameserver 198.18.0.1"),
              std::string::npos);
    EXPECT_NE(test::mount_at(plan, "/etc/hosts")->source.find("198.18.0.3 host.agent-sandbox.internal"),
              std::string::npos);
    EXPECT_EQ(test::mount_at(planned(""), "/etc/hosts")->source.find("internal"), std::string::npos);
    plan::Plan isolated = planned("mode = \"isolated\"");
    EXPECT_EQ(test::mount_at(isolated, "/etc/resolv.conf")->source.find("nameserver"), std::string::npos);
    plan::Plan open = planned("mode = \"open\"");
    EXPECT_EQ(test::mount_at(open, "/etc/hosts")->kind, plan::MountKind::symlink);
    EXPECT_FALSE(test::mount_at(open, "/etc/resolv.conf"));
}

// ---- Client configurations

const network::Bundle* bundle(const plan::Plan& plan, std::string_view name) {
    for (const network::Bundle& bundle : plan.network.egress.rules.bundles)
        if (bundle.name == name) return &bundle;
    return nullptr;
}

TEST(ClientBundles, AreReadFromTheUsersFilesWhereTheyAreNamed) {
    test::Case example{.toml = {.user = "[network]\nmode = \"proxied\"\nallow = [\"@npm\", \"@apt\"]"},
                       .environment = {"HOME=/home/ann", "PIP_INDEX_URL=https://pypi.example.org/simple"}};
    example.tree +=
        "f /home/ann/.npmrc 0600 registry=https://npm.example.org/\\n\n"
        "f /home/ann/app/.npmrc 0644 registry=https://evil.example.org/\\n\n"
        "f /etc/apt/sources.list.d/a.sources 0644 URIs:\\shttp://deb.example.org/debian\\n\n"
        "f /etc/apt/sources.list.d/a.save 0644 deb\\shttp://old.example.org/\\sx\\n\n";
    auto plan = test::planned(example);
    ASSERT_TRUE(plan) << plan.error().line();
    ASSERT_TRUE(bundle(*plan, "npm"));
    EXPECT_EQ(bundle(*plan, "npm")->entries, std::vector<std::string>{"npm.example.org"});
    ASSERT_TRUE(bundle(*plan, "apt"));
    EXPECT_EQ(bundle(*plan, "apt")->entries, std::vector<std::string>{"deb.example.org"});
    EXPECT_FALSE(bundle(*plan, "pip")) << "nobody named it";
    EXPECT_TRUE(plan::explain_host(*plan, "npm.example.org")->is_allowed);
    EXPECT_FALSE(plan::explain_host(*plan, "evil.example.org")->is_allowed);
    EXPECT_FALSE(plan::explain_host(*plan, "registry.npmjs.org")->is_allowed);
}

TEST(ClientBundles, AFileThatAJailMayHaveWrittenOpensNothing) {
    test::Case example{.toml = {.user =
                                    "[network]\nmode = \"proxied\"\nallow = [\"@pip\"]\n[home]\nwritable = "
                                    "[\".config/pip\"]"}};
    example.tree += "f /home/ann/.config/pip/pip.conf 0600 index-url=https://pip.example.org/\\n\n";
    auto plan = test::planned(example);
    ASSERT_TRUE(plan) << plan.error().line();
    EXPECT_FALSE(bundle(*plan, "pip"));
    EXPECT_TRUE(has_note(*plan, "pip.conf can be written in the jail"));
}

}  // namespace
