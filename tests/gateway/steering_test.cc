// SPDX-License-Identifier: MIT
#include "network/gateway/control/supervision.h"

#include <gtest/gtest.h>

#include "base/rounds.h"
#include "tcp_world.h"

namespace network::gateway {
namespace {

using policy::NetworkMode;

Egress filtered() {
    return {};
}

EngineSettings blocking(std::initializer_list<const char*> entries) {
    return {.block = items(entries)};
}

TEST(Steering, ClosesWhatIsForbiddenNowAndLeavesTheRest) {
    TcpWorld world(filtered());
    Peer bad = world.connect(world.inside("example.org", 22));
    Peer bad_server = world.accept();
    Peer good = world.connect(world.inside("other.example", 22));
    Peer good_server = world.accept();
    bad.send("SSH-2.0-client\r\n");
    EXPECT_TRUE(world.hears(bad_server, "SSH-2.0-client"));
    bad_server.send("SSH-2.0-server\r\n");
    EXPECT_TRUE(world.hears(bad, "SSH-2.0-server"));

    base::Result<size_t> closed = world.renew(blocking({"example.org"}));
    ASSERT_TRUE(closed) << closed.error().line();
    EXPECT_EQ(*closed, 1u);
    EXPECT_TRUE(world.is_reset(bad));
    EXPECT_TRUE(world.is_reset(bad_server));
    good.send("SSH-2.0-client\r\n");
    EXPECT_TRUE(world.hears(good_server, "SSH-2.0-client"));

    ASSERT_EQ(world.records("connection").size(), 1u);
    base::Json line = world.records("connection")[0];
    EXPECT_EQ(line.text("verdict"), "deny");
    EXPECT_EQ(line.text("cause"), "policy change");
    EXPECT_EQ(line.text("rule"), "example.org");
    EXPECT_EQ(line.text("name"), "example.org");
    EXPECT_EQ(line.number("sent"), 16);
    EXPECT_EQ(line.number("received"), 16);
}

// The measured code never waits, so CPU time is the right measure: it does not depend on the machine's load.
std::chrono::nanoseconds own_time() {
    struct timespec time = {};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

TEST(Steering, IsFast) {
    expect_within(std::chrono::milliseconds(100), [] {
        TcpWorld world(filtered());
        std::vector<Peer> clients, servers;
        constexpr unsigned kConnections = test::rounds(200);
        for (unsigned i = 0; i < kConnections; ++i) {
            clients.push_back(world.connect(world.inside("example.org", 22)));
            servers.push_back(world.accept());
        }
        auto begin = own_time();
        EXPECT_EQ(*world.renew(blocking({"example.org"})), kConnections);
        return own_time() - begin;
    });
}

TEST(Steering, TellsAClientThatHasNotBegun) {
    TcpWorld world(filtered());
    Peer client = world.connect(world.inside("example.org", 80));
    Peer server = world.accept();
    EXPECT_EQ(*world.renew(blocking({"example.org"})), 1u);
    client.send(get("example.org"));
    EXPECT_TRUE(world.hears(client, "403 Forbidden"));
    EXPECT_TRUE(world.hears(client, "network.block closes it"));
}

// The gateway checks the address of a name again, as at the start.
TEST(Steering, JudgesAddressesAgain) {
    TcpWorld world(filtered());
    Peer client = world.connect(world.inside("example.org", 22));
    Peer server = world.accept();
    server.send("SSH-2.0-server\r\n");
    EXPECT_TRUE(world.hears(client, "SSH-2.0-server"));
    EXPECT_EQ(*world.renew(blocking({"203.0.113.99"})), 0u);
    EXPECT_EQ(*world.renew(blocking({"203.0.113.10"})), 1u);
}

// Threat: a name that is blocked now stays reachable through a connection that was opened by address and sent
// the name later.
TEST(Steering, JudgesNamesThatWereSaidWithinAConnection) {
    Egress egress;
    egress.rules.allow = items({"203.0.113.10"});
    TcpWorld world(egress);
    Peer client = world.connect(TcpWorld::literal("203.0.113.10", 443));
    client.send(client_hello("example.org"));
    Peer server = world.accept();
    EXPECT_TRUE(world.hears(server, client_hello("example.org")));
    EngineSettings settings = egress.rules;
    settings.block = items({"elsewhere.example"});
    EXPECT_EQ(*world.renew(settings), 0u) << "the control";
    settings.block = items({"example.org"});
    EXPECT_EQ(*world.renew(settings), 1u);
    EXPECT_TRUE(world.is_reset(client));
}

TEST(Steering, OpensAndClosesForWhoComesLater) {
    TcpWorld world(filtered());
    EXPECT_EQ(*world.renew(blocking({"example.org"})), 0u);
    Peer refused = world.connect(world.inside("example.org", 80));
    refused.send(get("example.org"));
    EXPECT_TRUE(world.hears(refused, "403 Forbidden"));
    EXPECT_EQ(*world.renew({}), 0u);
    Peer client = world.connect(world.inside("example.org", 80));
    client.send(get("example.org"));
    Peer server = world.accept();
    EXPECT_TRUE(world.hears(server, "GET /"));
}

// Each request of a persistent connection is judged by the rules at that time.
TEST(Steering, IsSeenByGuardsThatStandAlready) {
    Egress egress;
    egress.rules.host_services = items({"10.1.2.3:5432"});
    TcpWorld world(egress);
    Peer client = world.connect(TcpWorld::literal("10.1.2.3", 5432));
    client.send(get("first.example:5432"));
    Peer server = world.accept();
    EXPECT_TRUE(world.hears(server, "first.example"));
    server.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    EXPECT_TRUE(world.hears(client, "200 OK"));
    EngineSettings settings = egress.rules;
    settings.block = items({"other.example"});
    EXPECT_EQ(*world.renew(settings), 0u);
    client.send(get("other.example:5432"));
    EXPECT_TRUE(world.hears(client, "403 Forbidden"));
}

TEST(Steering, JudgesADialOnItsWay) {
    TcpWorld world(filtered());
    Peer client = world.connect(world.inside("silent.example", 80));
    client.send(get("silent.example"));
    world.turn();
    ASSERT_EQ(world.dialled().size(), 1u);
    EXPECT_EQ(*world.renew(blocking({"silent.example"})), 1u);
    EXPECT_TRUE(world.hears(client, "403 Forbidden"));
}

// The same while the connection is being established: nothing is relayed.
TEST(Steering, JudgesTheAddressOnArrival) {
    TcpWorld world(filtered());
    Peer client = world.connect(world.inside("example.org", 80));
    client.send(get("example.org"));
    Peer server = world.accept();
    ASSERT_TRUE(world.renew(blocking({"203.0.113.10"})));
    EXPECT_TRUE(world.hears(client, "403 Forbidden"));
    server.poll();
    EXPECT_EQ(server.received, "");
}

TEST(Steering, RulesThatCantBeObeyedChangeNothing) {
    Egress egress;
    egress.rules.udp = items({"time.example:123"});
    ASSERT_TRUE(find_ports(egress));
    TcpWorld world(egress);
    Peer client = world.connect(world.inside("example.org", 22));
    Peer server = world.accept();
    auto failure_of = [&](const EngineSettings& settings,
                          std::optional<std::vector<uint16_t>> tcp_ports = std::nullopt) {
        base::Result<size_t> closed = world.renew(settings, std::move(tcp_ports));
        return closed ? "" : closed.error().line();
    };
    EXPECT_NE(failure_of(blocking({"example.org", "not an entry"})), "");
    EXPECT_NE(failure_of({.mode = NetworkMode::open}).find("restart"), std::string::npos);
    EngineSettings more_udp = blocking({"example.org"});
    more_udp.udp = items({"time.example:124"});
    EXPECT_NE(failure_of(more_udp).find("UDP port 124"), std::string::npos);
    EXPECT_NE(failure_of(more_udp).find("restart"), std::string::npos);
    EngineSettings more_tcp = blocking({"example.org"});
    more_tcp.allow = items({"other.example:8443"});
    EXPECT_NE(failure_of(more_tcp, {{80, 443}}).find("port 8443"), std::string::npos);
    EXPECT_FALSE(world.steering().renew("damaged"));
    client.send("SSH-2.0-client\r\n");
    EXPECT_TRUE(world.hears(server, "SSH-2.0-client"));
    EXPECT_EQ(failure_of(more_tcp, {{80, 443, 8443}}), "");
    EXPECT_TRUE(world.is_reset(client));
}

TEST(Steering, ShowsWhatIsOpen) {
    TcpWorld world(filtered());
    Peer client = world.connect(world.inside("example.org", 22));
    Peer server = world.accept();
    client.send("SSH-2.0-client\r\n");
    EXPECT_TRUE(world.hears(server, "SSH-2.0-client"));
    Peer refused = world.connect(TcpWorld::literal("192.0.2.1", 80));
    world.turn();
    base::Json state = world.state();
    EXPECT_EQ(state.number("connection_count"), 1);
    EXPECT_EQ(state.number("refused"), 1);
    EXPECT_TRUE(state.items("pending").empty());
    ASSERT_EQ(state.items("connections").size(), 1u);
    const base::Json& shown = state.items("connections")[0];
    EXPECT_EQ(shown.text("name"), "example.org");
    EXPECT_EQ(shown.text("address"), "203.0.113.10");
    EXPECT_EQ(shown.number("port"), 22);
    EXPECT_EQ(shown.text("protocol"), "ssh");
    EXPECT_EQ(shown.number("sent"), 16);
    EXPECT_GE(shown.number("age_ms", -1), 0);
    EXPECT_GT(shown.number("id"), 0);
}

TEST(Steering, ListsNoMoreThanCanBeRead) {
    TcpWorld world(filtered());
    std::vector<Peer> clients;
    for (size_t i = 0; i < Steering::kMostListed + 10; ++i)
        clients.push_back(world.connect(world.inside("silent.example", 22)));
    EXPECT_EQ(world.state().number("connection_count"), static_cast<int64_t>(clients.size()));
    EXPECT_EQ(world.state().items("connections").size(), Steering::kMostListed);
}

// The gateway's answers to a program in the jail.
class Explanations : public ::testing::Test {
  protected:
    static base::Json ask(TcpWorld& world, const std::string& subject) {
        Peer client = world.connect(TcpWorld::gateway());
        client.send("GET /why/" + subject + " HTTP/1.1\r\nHost: gateway\r\n\r\n");
        EXPECT_TRUE(world.hears(client, "}\n")) << client.received;
        EXPECT_TRUE(client.received.starts_with("HTTP/1.1 200 OK\r\n")) << client.received;
        size_t body = client.received.find("\r\n\r\n");
        return *base::Json::parse(std::string_view(client.received).substr(body + 4));
    }
};

TEST_F(Explanations, FollowTheRules) {
    TcpWorld world(filtered());
    base::Json open = ask(world, "example.org");
    EXPECT_EQ(open.text("subject"), "example.org:443");
    EXPECT_TRUE(open.truth("allowed"));
    EXPECT_EQ(open.text("decision"), "allow");
    ASSERT_TRUE(world.renew(blocking({"example.org"})));
    base::Json closed = ask(world, "example.org:8443");
    EXPECT_FALSE(closed.truth("allowed", true));
    EXPECT_EQ(closed.text("decision"), "deny");
    EXPECT_EQ(closed.text("rule"), "example.org");
    EXPECT_EQ(closed.text("origin"), "--test");
    EXPECT_EQ(closed.text("change"), "network.allow = [\"example.org:8443\"]");
    EXPECT_NE(closed.text("reason"), "");
    EXPECT_EQ(ask(world, "%5B2001:db8::1%5D:80").text("subject"), "[2001:db8::1]:80");
    EXPECT_FALSE(ask(world, "udp:example.org:53").truth("allowed", true));
    EXPECT_TRUE(world.dialled().empty());
    EXPECT_EQ(world.lines(), "") << "nobody went anywhere";
}

TEST_F(Explanations, RefuseWhatIsNoQuestion) {
    TcpWorld world(filtered());
    for (const char* request :
         {"GET /why/ HTTP/1.1\r\nHost: g\r\n\r\n", "GET /why/a%20b HTTP/1.1\r\nHost: g\r\n\r\n",
          "GET /why/example.org:99999 HTTP/1.1\r\nHost: g\r\n\r\n",
          "POST /why/example.org HTTP/1.1\r\nHost: g\r\nContent-Length: 0\r\n\r\n",
          "GET /other HTTP/1.1\r\nHost: g\r\n\r\n"}) {
        Peer client = world.connect(TcpWorld::gateway());
        client.send(request);
        EXPECT_TRUE(world.hears(client, "400 Bad Request")) << request;
    }
}

}  // namespace
}  // namespace network::gateway
