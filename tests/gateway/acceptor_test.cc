// SPDX-License-Identifier: MIT
#include "network/gateway/connections/acceptor.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include "tcp_world.h"

namespace network::gateway {
namespace {

using policy::NetworkMode;

TEST(Acceptor, LeadsASyntheticAddressToTheNameBehindIt) {
    TcpWorld world;
    Peer client = world.connect(world.inside("example.org", 443));
    client.send(client_hello("example.org") + "more");
    Peer server = world.accept();
    EXPECT_TRUE(world.hears(server, client_hello("example.org")));
    EXPECT_EQ(server.received, client_hello("example.org")) << "the server may ask for another hello";
    ASSERT_EQ(world.dialled().size(), 1u);
    EXPECT_EQ(world.dialled()[0], TcpWorld::literal("203.0.113.10", 443));
    server.send("sealed");
    EXPECT_TRUE(world.hears(client, "sealed"));
    EXPECT_TRUE(world.hears(server, client_hello("example.org") + "more"));
    client.close();
    EXPECT_TRUE(world.is_ended(server));
    server.close();
    EXPECT_TRUE(world.is_empty());
    EXPECT_NE(world.lines().find("\"example.org\""), std::string::npos);
    EXPECT_NE(world.lines().find("\"tls\""), std::string::npos);
    EXPECT_NE(world.lines().find("203.0.113.10"), std::string::npos);
}

// The client closes its side while the gateway still holds its second message back.
TEST(Acceptor, SendsWhatWasHeldBeforeTheEnd) {
    TcpWorld world;
    Peer client = world.connect(world.inside("example.org", 443));
    client.send(client_hello("example.org") + "more");
    client.end_writing();
    Peer server = world.accept();
    EXPECT_TRUE(world.hears(server, client_hello("example.org")));
    EXPECT_FALSE(server.has_ended);
    server.send("sealed");
    EXPECT_TRUE(world.hears(server, client_hello("example.org") + "more"));
    EXPECT_TRUE(world.is_ended(server));
}

TEST(Acceptor, HandsTheServersWordOnBeforeTheClientHasSpoken) {
    TcpWorld world;
    Peer client = world.connect(world.inside("example.org", 22));
    Peer server = world.accept();
    server.send("SSH-2.0-server\r\n");
    EXPECT_TRUE(world.hears(client, "SSH-2.0-server\r\n"));
    client.send("SSH-2.0-client\r\n");
    EXPECT_TRUE(world.hears(server, "SSH-2.0-client\r\n"));
}

// The record has a line for each connection, including those still open at the end of the session.
TEST(Acceptor, RecordsWhatIsStillOpenWhenItGoes) {
    TcpWorld world;
    Peer client = world.connect(world.inside("example.org", 22));
    Peer server = world.accept();
    client.send("SSH-2.0-client\r\n");
    EXPECT_TRUE(world.hears(server, "SSH-2.0-client\r\n"));
    Peer waiting = world.connect(world.inside("silent.example", 443));
    EXPECT_EQ(world.lines(), "");
    world.close_acceptor();
    EXPECT_NE(world.lines().find("\"example.org\""), std::string::npos);
    EXPECT_NE(world.lines().find("\"sent\":16"), std::string::npos);
    EXPECT_NE(world.lines().find("\"silent.example\""), std::string::npos);
}

TEST(Acceptor, HoldsTheHelloUntilItIsWhole) {
    TcpWorld world;
    Peer client = world.connect(world.inside("example.org", 443));
    Peer server = world.accept();
    std::string hello = client_hello("example.org");
    for (char byte : hello.substr(0, hello.size() - 1)) {
        client.send({&byte, 1});
        world.turn(1);
        server.poll();
        ASSERT_EQ(server.received, "");
    }
    client.send({&hello.back(), 1});
    EXPECT_TRUE(world.hears(server, hello));
}

TEST(Acceptor, RefusesAnotherServerNameWithAnAlert) {
    TcpWorld world;
    Peer client = world.connect(world.inside("example.org", 443));
    client.send(client_hello("other.example"));
    Peer server = world.accept();
    EXPECT_TRUE(world.hears(client, wire::tls_alert(wire::TlsAlert::unrecognized_name)));
    EXPECT_TRUE(world.is_reset(server));
    EXPECT_EQ(server.received, "");
    client.close();
    EXPECT_TRUE(world.is_empty());
    EXPECT_NE(world.lines().find("\"protocol\""), std::string::npos);
}

TEST(Acceptor, JudgesEveryRequestOfAConnection) {
    TcpWorld world;
    Peer client = world.connect(world.inside("example.org", 80));
    client.send(get("example.org"));
    Peer server = world.accept();
    EXPECT_TRUE(world.hears(server, get("example.org")));
    server.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    EXPECT_TRUE(world.hears(client, "\r\n\r\nok"));
    client.send(get("other.example"));
    EXPECT_TRUE(world.hears(client, "HTTP/1.1 403 "));
    EXPECT_TRUE(world.hears(client, "other.example"));
    EXPECT_TRUE(world.is_reset(server)) << "it must not take the end for the end of a request";
    EXPECT_EQ(server.received, get("example.org"));
}

TEST(Acceptor, SaysNothingInTheMiddleOfAnAnswer) {
    TcpWorld world;
    Peer client = world.connect(world.inside("example.org", 80));
    client.send(get("example.org") + get("other.example"));
    EXPECT_TRUE(world.is_ended(client) || client.was_reset);
    EXPECT_EQ(client.received, "");
}

TEST(Acceptor, CarriesAWebsocket) {
    TcpWorld world;
    Peer client = world.connect(world.inside("example.org", 80));
    std::string request = get("example.org", "/ws", "Connection: Upgrade\r\nUpgrade: websocket\r\n");
    client.send(request);
    Peer server = world.accept();
    EXPECT_TRUE(world.hears(server, request));
    server.send("HTTP/1.1 101 Switching Protocols\r\n\r\nframe 1");
    EXPECT_TRUE(world.hears(client, "frame 1"));
    client.send("frame 2");
    EXPECT_TRUE(world.hears(server, "frame 2"));
    server.send("frame 3");
    EXPECT_TRUE(world.hears(client, "frame 3"));
}

TEST(Acceptor, RefusesWhatThePolicyRefusesBeforeAnythingIsDialled) {
    TcpWorld world({.rules = {.block = items({"blocked.example"})}});
    Peer client = world.connect(world.inside("blocked.example", 80));
    client.send(get("blocked.example"));
    EXPECT_TRUE(world.hears(client, "\"do_not_retry\""));
    EXPECT_TRUE(client.received.starts_with("HTTP/1.1 403 "));
    EXPECT_TRUE(world.dialled().empty());
}

TEST(Acceptor, JudgesTheAddressesOfAName) {
    TcpWorld world;
    Peer client = world.connect(world.inside("inner.example", 80));
    client.send(get("inner.example"));
    EXPECT_TRUE(world.hears(client, "10.1.2.3"));
    EXPECT_TRUE(client.received.starts_with("HTTP/1.1 403 "));
    EXPECT_TRUE(world.dialled().empty());
}

TEST(Acceptor, RefusesLiteralsAndAddressesThatStandForNothing) {
    TcpWorld world;
    for (const Endpoint& destination :
         {TcpWorld::literal("203.0.113.10", 80), TcpWorld::literal("198.18.77.77", 80),
          TcpWorld::literal("127.0.0.1", 80), TcpWorld::literal("::ffff:127.0.0.1", 80),
          Endpoint{fixed_v4(Fixed::host), 80}, Endpoint{fixed_v4(Fixed::jail), 80}}) {
        Peer client = world.connect(destination);
        client.send(get("example.org"));
        EXPECT_TRUE(world.hears(client, "HTTP/1.1 403 ")) << destination.address.str();
    }
    EXPECT_TRUE(world.dialled().empty());
}

TEST(Acceptor, DialsALiteralThatARuleOpens) {
    TcpWorld world({.rules = {.allow = items({"203.0.113.10"})}});
    Peer client = world.connect(TcpWorld::literal("203.0.113.10", 443));
    client.send(client_hello(""));
    Peer server = world.accept();
    EXPECT_TRUE(world.hears(server, client_hello("")));
}

TEST(Acceptor, LeadsToAServiceOfTheHost) {
    base::Fd service = bound_socket(SOCK_STREAM, "127.0.0.1", 0);
    uint16_t port = own_endpoint(service.get())->port;
    std::string text = std::to_string(port);
    TcpWorld world({.rules = {.host_services = items({text.c_str()})}});
    Peer client = world.connect({fixed_v4(Fixed::host), port});
    client.send(get(std::string(kHostServiceName) + ":" + text));
    Peer server = world.accept();
    ASSERT_FALSE(world.dialled().empty());
    EXPECT_EQ(world.dialled()[0], TcpWorld::literal("127.0.0.1", port));
    EXPECT_TRUE(world.hears(server, "GET / HTTP/1.1"));
    Peer another = world.connect({fixed_v4(Fixed::host), static_cast<uint16_t>(port + 1)});
    another.send(get("x"));
    EXPECT_TRUE(world.hears(another, "HTTP/1.1 403 "));
}

TEST(Acceptor, LeadsToAServiceOfTheHostByItsLoopbackAddress) {
    TcpWorld world({.rules = {.mode = NetworkMode::proxied, .host_services = items({"5432", "53"})}});
    for (const Endpoint& destination :
         {TcpWorld::literal("127.0.0.1", 5432), TcpWorld::literal("::1", 5432),
          TcpWorld::literal("::ffff:127.0.0.1", 5432), TcpWorld::literal("127.0.0.1", 53)}) {
        size_t before = world.dialled().size();
        Peer client = world.connect(destination);
        client.send(get("127.0.0.1:5432"));
        Peer server = world.accept();
        ASSERT_EQ(world.dialled().size(), before + 1) << destination.address.str();
        EXPECT_EQ(world.dialled().back(), TcpWorld::literal("127.0.0.1", destination.port));
        EXPECT_TRUE(world.hears(server, "GET / HTTP/1.1"));
    }
    size_t dialled = world.dialled().size();
    for (const Endpoint& destination :
         {TcpWorld::literal("127.0.0.2", 5432), TcpWorld::literal("127.0.0.1", 5433),
          TcpWorld::literal("0.0.0.0", 5432), TcpWorld::literal("::7f00:1", 5432)}) {
        Peer client = world.connect(destination);
        client.send(get("127.0.0.1"));
        EXPECT_TRUE(world.hears(client, "HTTP/1.1 403 ")) << destination.address.str();
    }
    EXPECT_EQ(world.dialled().size(), dialled);
}

// The user opened a port by its number, so no name is judged and every byte string passes.
TEST(Acceptor, PassesEveryByteStringToAServiceOfTheHost) {
    const std::string strings[] = {std::string("\x15\x03\x01\x00\x02\x01\x00", 7),
                                   "PROXY TCP4 192.0.2.1 192.0.2.2 1 2\r\n",
                                   "\r\n\r\nGET / HTTP/1.1\r\nHost: evil.example\r\n\r\n",
                                   "\x01GET / HTTP/1.1\r\n\r\n",
                                   "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
                                   std::string("\x80\x2e\x01\x03\x01\x00", 6),
                                   std::string("\x00", 1),
                                   "GET http://evil.example/ HTTP/1.1\r\nHost: evil.example\r\n\r\n",
                                   client_hello("evil.example"),
                                   client_hello("")};
    for (policy::NetworkMode mode : {NetworkMode::filtered, NetworkMode::proxied}) {
        for (const char* port : {"80", "443", "5432"}) {
            TcpWorld world(
                {.rules = {.mode = mode, .block = items({"evil.example"}), .host_services = items({port})}});
            Endpoint inside{fixed_v4(Fixed::host), static_cast<uint16_t>(std::atoi(port))};
            for (const std::string& bytes : strings) {
                Peer client = world.connect(inside);
                client.send(bytes);
                Peer server = world.accept();
                EXPECT_TRUE(world.hears(server, bytes)) << port << " " << base::printable(bytes);
                EXPECT_EQ(server.received, bytes);
            }
        }
    }
}

TEST(Acceptor, KeepsAServiceOfTheHostOpenWhenOtherRulesChange) {
    EngineSettings settings{.host_services = items({"443"})};
    TcpWorld world({.rules = settings});
    Peer client = world.connect({fixed_v4(Fixed::host), 443});
    client.send("\x01 of a protocol of its own");
    Peer server = world.accept();
    EXPECT_TRUE(world.hears(server, "of its own"));
    settings.block = items({"other.example"});
    EXPECT_EQ(*world.renew(settings), 0u);
    settings.block = items({"raw:*"});
    EXPECT_EQ(*world.renew(settings), 1u);
    EXPECT_TRUE(world.is_reset(client));
}

// If an address of this host ever passes the rules, the gateway detects it when the connection is
// established.
TEST(Acceptor, RefusesThisHostsOwnAddressAfterConnecting) {
    TcpWorld world({.rules = {.mode = NetworkMode::open}});
    Peer client = world.connect(TcpWorld::literal("127.0.0.1", 80));
    client.send(get("127.0.0.1"));
    EXPECT_TRUE(world.hears(client, "HTTP/1.1 403 "));
    EXPECT_EQ(world.dialled().size(), 1u);
    Peer server = world.accept();
    EXPECT_TRUE(world.is_ended(server));
    EXPECT_EQ(server.received, "");
}

TEST(Acceptor, FallsBackToTheOtherFamilyWhenOneIsSilent) {
    TcpWorld world;
    Peer client = world.connect(world.inside("twin.example", 443));
    client.send(client_hello("twin.example"));
    Peer server = world.accept();
    EXPECT_TRUE(world.hears(server, client_hello("twin.example")));
    ASSERT_EQ(world.dialled().size(), 2u);
    EXPECT_FALSE(world.dialled()[1].address.is_v4());
}

TEST(Acceptor, TellsThatAHostCannotBeReached) {
    TcpWorld world;
    Peer http = world.connect(world.inside("closed.example", 80));
    http.send(get("closed.example"));
    EXPECT_TRUE(world.hears(http, "HTTP/1.1 502 "));
    Peer tls = world.connect(world.inside("closed.example", 443));
    tls.send(client_hello("closed.example"));
    EXPECT_TRUE(world.hears(tls, wire::tls_alert(wire::TlsAlert::internal_error)));
    Peer other = world.connect(world.inside("closed.example", 5432));
    EXPECT_TRUE(world.is_reset(other));
}

TEST(Acceptor, ForgetsAClientThatLeavesWhileItsHostIsDialled) {
    TcpWorld world;
    Peer client = world.connect(world.inside("silent.example", 443));
    world.turn();
    EXPECT_EQ(world.acceptor().connections(), 1u);
    client.reset();
    EXPECT_TRUE(world.is_empty());
}

TEST(Acceptor, ResetsClientsAboveTheLimit) {
    TcpWorld world({.most_connections = 2});
    Peer first = world.connect(world.inside("example.org", 443));
    Peer second = world.connect(world.inside("example.org", 443));
    for (int i = 0; i < 3; ++i) {
        Peer third = world.connect(world.inside("example.org", 443));
        EXPECT_TRUE(world.is_reset(third));
    }
    std::string lines = world.lines();
    size_t at = lines.find("\"limit\"");
    ASSERT_NE(at, std::string::npos);
    EXPECT_EQ(lines.find("\"limit\"", at + 1), std::string::npos) << "a line for each";
}

TEST(Acceptor, AcceptsFromAListenerAndPausesWithoutDescriptors) {
    TcpWorld world;
    base::Fd listener = bound_socket(SOCK_STREAM, "127.0.0.1", 0);
    uint16_t port = own_endpoint(listener.get())->port;
    world.acceptor().listen(std::move(listener), Acceptor::Origin::own_address);
    // The listener's own address is loopback, which no rule opens. The first connection is also needed for
    // the sanitizer: it can't check the listener's type for the first time when no descriptor is free.
    Peer first(connect_to_loopback(port));
    first.send(get("x"));
    EXPECT_TRUE(world.hears(first, "HTTP/1.1 403 "));
    Peer client(connect_to_loopback(port));
    struct rlimit before, none;
    ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
    none = before;
    // The lowest free descriptor: the process can't open another one.
    none.rlim_cur = static_cast<rlim_t>(base::Fd(::dup(0)).get());
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
    // A loop that spins would run thousands of turns in this time; one that waits has only a few turns.
    int turns = 0;
    for (auto start = base::EventLoop::Clock::now();
         base::EventLoop::Clock::now() - start < std::chrono::milliseconds(75); ++turns) {
        world.loop().turn(std::chrono::milliseconds(15));
    }
    EXPECT_LT(turns, 25) << "it spins";
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
    client.send(get("x"));
    EXPECT_TRUE(world.hears(client, "HTTP/1.1 403 "));
}

TEST(Acceptor, LeaksNothingOverManyConnections) {
    TcpWorld world;
    size_t before = open_descriptors();
    for (int i = 0; i < 5000; ++i) {
        Peer client = world.connect(world.inside("example.org", i % 2 ? 443 : 80));
        client.send(i % 2 ? client_hello(i % 3 ? "example.org" : "other.example") : get("example.org"));
        Peer server = world.accept();
        if (i % 5 == 0) client.reset();
        if (i % 7 == 0) server.reset();
        world.turn(1);
    }
    EXPECT_TRUE(world.is_empty());
    world.turn(2);
    EXPECT_LE(open_descriptors(), before + 2 * PipePool::kMostKept);
}

}  // namespace
}  // namespace network::gateway
