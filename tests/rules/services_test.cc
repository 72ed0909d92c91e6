// SPDX-License-Identifier: MIT
#include "rules/services.h"

#include <gtest/gtest.h>

#include "rules/egress.h"
#include "rules/engine.h"

namespace network {
namespace {

using config::Item;
using config::Layer;

std::vector<Item> by(Layer layer, std::initializer_list<const char*> texts) {
    std::vector<Item> list;
    for (const char* text : texts) list.push_back({text, {.layer = layer, .file = "f", .line = 7}});
    return list;
}
std::vector<Item> user(std::initializer_list<const char*> texts) {
    return by(Layer::user, texts);
}

TEST(HostServices, AreAPortOrAPrivateAddressWithOne) {
    auto services = parse_host_services(user({"5432", "10.1.2.3:80", "[fd12::1]:443"}));
    ASSERT_TRUE(services.ok()) << services.error().line();
    EXPECT_FALSE((*services)[0].address);
    EXPECT_EQ((*services)[0].port, 5432);
    EXPECT_EQ((*services)[1].address->str(), "10.1.2.3");
    EXPECT_EQ((*services)[2].address->str(), "fd12::1");
    EXPECT_EQ((*services)[2].origin.line, 7);
}

TEST(HostServices, AreNeverLoopbackMetadataMailOrAName) {
    for (const char* text :
         {"", "0", "65536", "080", "5432-5433", "127.0.0.1:80", "[::1]:80", "169.254.169.254:80",
          "[fd00:ec2::254]:80", "8.8.8.8:53", "db.example.org:80", "10.1.2.3", "fd12::1:80",
          "10.1.2.3:", "25", "10.1.2.3:587", "[2002:0a00:0001::1]:80"}) {
        auto services = parse_host_services(user({text}));
        ASSERT_FALSE(services.ok()) << text;
        EXPECT_EQ(services.error().where, "f:7") << text;
    }
    EXPECT_TRUE(parse_host_services(by(Layer::admin, {"25"})).ok());
}

TEST(Published, LeadAPortToAPort) {
    auto ports = parse_published(user({"8080", "9000:80", "8080"}));
    ASSERT_TRUE(ports.ok());
    ASSERT_EQ(ports->size(), 2u);
    EXPECT_EQ((*ports)[1].host_port, 9000);
    EXPECT_EQ((*ports)[1].jail_port, 80);
    for (const char* text : {"", ":", "80:", ":80", "0.0.0.0:80:80", "70000", "80:0"})
        EXPECT_FALSE(parse_published(user({text})).ok()) << text;
    EXPECT_FALSE(parse_published(user({"80:1", "80:2"})).ok());
}

TEST(UpstreamProxy, IsAnHttpProxy) {
    auto proxy = parse_upstream_proxy("http://Proxy.Example.org:3128/", "", {});
    ASSERT_TRUE(proxy.ok());
    EXPECT_EQ(proxy->host, "proxy.example.org");
    EXPECT_EQ(proxy->port, 3128);
    EXPECT_TRUE(proxy->authorization.empty());
    EXPECT_EQ(parse_upstream_proxy("proxy:8080", "", {})->port, 8080);
    EXPECT_EQ(parse_upstream_proxy("http://proxy", "", {})->port, 80);
    EXPECT_EQ(parse_upstream_proxy("http://[2001:db8::1]:8080", "", {})->host, "2001:db8::1");
    EXPECT_EQ(parse_upstream_proxy("http://a:b%40c@proxy", "", {})->authorization, "Basic YTpiQGM=");
    EXPECT_EQ(parse_upstream_proxy("http://token@proxy", "", {})->authorization, "Basic dG9rZW46");
}

TEST(UpstreamProxy, SaysWhatIsWrongWithoutThePassword) {
    for (const char* text :
         {"https://ann:hunter2@proxy:1", "socks5h://ann:hunter2@proxy:1", "ann:hunter2@proxy:x",
          "http://ann:hunter2@", "http://ann:hunter2%0d%0aX@proxy"}) {
        auto proxy = parse_upstream_proxy(text, "", {});
        ASSERT_FALSE(proxy.ok()) << text;
        EXPECT_EQ(proxy.error().line().find("hunter2"), std::string::npos) << text;
    }
}

TEST(UpstreamProxy, LeavesOutWhatIsReachedDirectly) {
    auto proxy = *parse_upstream_proxy(
        "proxy:1", "localhost, .lab.example.org,Intern.example.org:8080 *.x.org 10.0.0.0/8,[fd12::1]", {});
    auto is_for = [&](std::string_view name) { return proxy.is_for(*HostName::parse(name)); };
    EXPECT_TRUE(is_for("example.org"));
    EXPECT_TRUE(is_for("otherlab.example.org"));
    EXPECT_FALSE(is_for("lab.example.org"));
    EXPECT_FALSE(is_for("db.lab.example.org"));
    EXPECT_FALSE(is_for("intern.example.org"));
    EXPECT_FALSE(is_for("a.x.org"));
    EXPECT_FALSE(proxy.is_for(*Address::parse("10.1.2.3")));
    EXPECT_FALSE(proxy.is_for(*Address::parse("fd12::1")));
    EXPECT_TRUE(proxy.is_for(*Address::parse("192.0.2.1")));
    EXPECT_FALSE(parse_upstream_proxy("proxy:1", "*", {})->is_for(*HostName::parse("example.org")));
}

// ---- The same in the engine

Engine engine(EngineSettings settings) {
    auto made = Engine::make(settings);
    EXPECT_TRUE(made.ok()) << (made.ok() ? "" : made.error().line());
    return *made;
}

Verdict decide(const Engine& rules, std::string_view host, uint16_t port,
               Transport transport = Transport::tcp) {
    return rules.decide({*parse_host(host), port, transport});
}

TEST(HostServices, OpenTheirPortAndNoOther) {
    for (auto mode : {policy::NetworkMode::filtered, policy::NetworkMode::proxied}) {
        Engine rules = engine({.mode = mode, .allow = user({"*", "22"}), .host_services = user({"5432"})});
        EXPECT_TRUE(decide(rules, kHostServiceName, 5432).is_allowed());
        EXPECT_FALSE(decide(rules, kHostServiceName, 5432, Transport::udp).is_allowed());
        Verdict closed = decide(rules, kHostServiceName, 22);
        EXPECT_FALSE(closed.is_allowed());
        EXPECT_NE(closed.advice.find("--host-port 22"), std::string::npos);
        EXPECT_TRUE(rules.decide_lookup(*HostName::parse(kHostServiceName)).is_allowed());
        EXPECT_TRUE(
            rules.decide_resolved(*HostName::parse(kHostServiceName), *Address::parse("127.0.0.1"), 5432)
                .is_allowed());
        EXPECT_FALSE(
            rules.decide_resolved(*HostName::parse(kHostServiceName), *Address::parse("10.0.0.1"), 5432)
                .is_allowed());
        EXPECT_FALSE(rules.decide_resolved(*HostName::parse("a.org"), *Address::parse("127.0.0.1"), 5432)
                         .is_allowed());
    }
    EXPECT_FALSE(engine({}).decide_lookup(*HostName::parse(kHostServiceName)).is_allowed());
}

TEST(HostServices, GiveWayToTheAdministratorsBlock) {
    EngineSettings settings{.block = by(Layer::admin, {"host.agent-sandbox.internal"}),
                            .host_services = user({"5432"})};
    EXPECT_FALSE(decide(engine(settings), kHostServiceName, 5432).is_allowed());
}

TEST(HostServices, ExemptOneAddressAtOnePort) {
    Engine rules = engine({.host_services = user({"10.1.2.3:6000"})});
    EXPECT_TRUE(decide(rules, "10.1.2.3", 6000).is_allowed());
    EXPECT_FALSE(decide(rules, "10.1.2.3", 6001).is_allowed());
    EXPECT_FALSE(decide(rules, "10.1.2.4", 6000).is_allowed());
    EXPECT_FALSE(decide(rules, "10.1.2.3", 6000, Transport::udp).is_allowed());
    auto name = *HostName::parse("db.example.org");
    EXPECT_TRUE(rules.decide_resolved(name, *Address::parse("10.1.2.3"), 6000).is_allowed());
    EXPECT_FALSE(rules.decide_resolved(name, *Address::parse("10.1.2.3"), 6001).is_allowed());
    EXPECT_TRUE(rules.warnings().empty());
}

TEST(HostServices, AreServedOnTheJailsLoopbackWhereAGatewayIs) {
    Egress egress{.rules = {.host_services = user({"5432", "5432", "8000", "10.1.2.3:6000"})}};
    EXPECT_EQ(loopback_ports(egress), (std::vector<uint16_t>{5432, 8000}));
    egress.published = {{.host_port = 8080, .jail_port = 8000, .origin = {}}};
    EXPECT_EQ(loopback_ports(egress), std::vector<uint16_t>{5432}) << "the jail's own server has the port";
    for (policy::NetworkMode mode : {policy::NetworkMode::open, policy::NetworkMode::isolated}) {
        egress.rules.mode = mode;
        EXPECT_TRUE(loopback_ports(egress).empty());
    }
}

TEST(Udp, EntriesOpenUdpAlone) {
    Engine rules = engine({.mode = policy::NetworkMode::proxied,
                           .udp = user({"stun.example.org:3478", "udp:time.example.org:123"})});
    EXPECT_TRUE(decide(rules, "stun.example.org", 3478, Transport::udp).is_allowed());
    EXPECT_TRUE(decide(rules, "time.example.org", 123, Transport::udp).is_allowed());
    EXPECT_FALSE(decide(rules, "stun.example.org", 3478).is_allowed());
    EXPECT_FALSE(decide(rules, "stun.example.org", 443, Transport::udp).is_allowed());
}

TEST(PrivateNetworks, HaveHostsWithoutNamesWhereTheModeIsFiltered) {
    EngineSettings settings{.private_networks = user({"10.20.0.0/16"})};
    Verdict open = decide(engine(settings), "10.20.1.2", 8080);
    EXPECT_TRUE(open.is_allowed());
    EXPECT_EQ(open.origin.line, 7);
    EXPECT_FALSE(decide(engine(settings), "10.21.1.2", 8080).is_allowed());
    EXPECT_FALSE(decide(engine(settings), "10.20.1.2", 8080, Transport::udp).is_allowed());
    EXPECT_FALSE(decide(engine(settings), "10.20.1.2", 25).is_allowed());
    settings.block = user({"10.20.1.0/24"});
    EXPECT_FALSE(decide(engine(settings), "10.20.1.2", 8080).is_allowed());
    settings.mode = policy::NetworkMode::proxied;
    EXPECT_FALSE(decide(engine(settings), "10.20.2.2", 8080).is_allowed());
    settings.allow = user({"10.20.2.0/24"});
    EXPECT_TRUE(decide(engine(settings), "10.20.2.2", 8080).is_allowed());
}

}  // namespace
}  // namespace network
