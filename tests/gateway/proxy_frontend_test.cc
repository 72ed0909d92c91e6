// SPDX-License-Identifier: MIT
// The gateway as a proxy, and as a client of the site's proxy.
#include "network/gateway/connections/proxy_frontend.h"

#include <gtest/gtest.h>

#include "network/wire/dns/dns.h"
#include "network/wire/dns/dns_lookup.h"
#include "network/wire/http/http_exchange.h"
#include "tcp_world.h"

namespace network::gateway {
namespace {

std::string connect_to(const std::string& authority) {
    return "CONNECT " + authority + " HTTP/1.1\r\nHost: " + authority + "\r\n\r\n";
}

std::string socks_to(std::string_view name, uint16_t port) {
    std::string request =
        std::string("\x05\x01\x00\x03", 4) + static_cast<char>(name.size()) + std::string(name);
    wire::append_u16(request, port);
    return request;
}

std::string socks_to(const std::array<uint8_t, 4>& address, uint16_t port) {
    std::string request("\x05\x01\x00\x01", 4);
    for (uint8_t byte : address) request += static_cast<char>(byte);
    wire::append_u16(request, port);
    return request;
}

const std::string kSocksHello("\x05\x01\x00", 3);
const std::string kSocksTaken("\x05\x00", 2);

struct ProxyFrontendTest : testing::Test {
    TcpWorld world{{.rules = {.block = items({"blocked.example"})}}};
    Peer client = world.connect(TcpWorld::gateway());
};

TEST_F(ProxyFrontendTest, ConnectsAndJudgesWhatGoesThrough) {
    client.send(connect_to("example.org:443"));
    EXPECT_TRUE(world.hears(client, wire::kConnectEstablished));
    client.send(client_hello("example.org"));
    Peer server = world.accept();
    EXPECT_TRUE(world.hears(server, client_hello("example.org")));
    EXPECT_EQ(world.dialled()[0], TcpWorld::literal("203.0.113.10", 443));
    server.send("sealed");
    EXPECT_TRUE(world.hears(client, "sealed"));
}

TEST_F(ProxyFrontendTest, RefusesAnotherNameWithinConnect) {
    client.send(connect_to("example.org:443") + client_hello("other.example"));
    EXPECT_TRUE(world.hears(client, wire::tls_alert(wire::TlsAlert::unrecognized_name)));
    EXPECT_TRUE(client.received.starts_with(wire::kConnectEstablished));
    Peer http = world.connect(TcpWorld::gateway());
    http.send(connect_to("example.org:80") + get("other.example"));
    EXPECT_TRUE(world.hears(http, "HTTP/1.1 403 "));
}

TEST_F(ProxyFrontendTest, RefusesWhatThePolicyRefuses) {
    client.send(connect_to("blocked.example:443"));
    EXPECT_TRUE(world.hears(client, "HTTP/1.1 403 "));
    for (const char* odd : {"2130706433:80", "0x7f.1:80", "127.1:80", "017700000001:80", "127.0.0.1:80",
                            "[::1]:80", "[::ffff:127.0.0.1]:80", "203.0.113.10:443", "198.18.0.1:80"}) {
        Peer another = world.connect(TcpWorld::gateway());
        another.send(connect_to(odd));
        EXPECT_TRUE(world.hears(another, "HTTP/1.1 4")) << odd;
    }
    EXPECT_TRUE(world.dialled().empty());
}

TEST_F(ProxyFrontendTest, TellsThatAHostCannotBeReached) {
    client.send(connect_to("closed.example:443"));
    EXPECT_TRUE(world.hears(client, "HTTP/1.1 502 "));
}

TEST_F(ProxyFrontendTest, MakesARequestInAbsoluteForm) {
    client.send(
        "GET http://example.org/x HTTP/1.1\r\nHost: example.org\r\nProxy-Connection: keep-alive\r\n\r\n");
    Peer server = world.accept();
    EXPECT_TRUE(world.hears(server, "\r\n\r\n"));
    EXPECT_EQ(server.received, "GET /x HTTP/1.1\r\nHost: example.org\r\nConnection: close\r\n\r\n");
    server.send("HTTP/1.1 200 OK\r\n\r\nbody");
    server.close();
    EXPECT_TRUE(world.is_ended(client));
    EXPECT_EQ(client.received, "HTTP/1.1 200 OK\r\n\r\nbody");
}

TEST_F(ProxyFrontendTest, IsNoServer) {
    client.send(get("198.18.0.1"));
    EXPECT_TRUE(world.hears(client, "HTTP/1.1 400 "));
}

TEST_F(ProxyFrontendTest, SpeaksSocksByName) {
    client.send(kSocksHello);
    EXPECT_TRUE(world.hears(client, kSocksTaken));
    client.received.clear();
    client.send(socks_to("example.org", 443));
    EXPECT_TRUE(world.hears(client, wire::socks5_reply(wire::Socks5Code::succeeded)));
    Peer server = world.accept();
    client.send(client_hello("example.org"));
    EXPECT_TRUE(world.hears(server, client_hello("example.org")));
}

TEST_F(ProxyFrontendTest, TranslatesASyntheticAddressBack) {
    Address inside = world.inside("example.org", 0).address;
    std::array<uint8_t, 4> bytes;
    std::copy_n(inside.bytes().begin() + 12, 4, bytes.begin());
    client.send(kSocksHello + socks_to(bytes, 443) + client_hello("other.example"));
    EXPECT_TRUE(world.hears(client, wire::tls_alert(wire::TlsAlert::unrecognized_name)));
    EXPECT_EQ(world.dialled()[0], TcpWorld::literal("203.0.113.10", 443));
}

TEST_F(ProxyFrontendTest, RefusesInSocks) {
    client.send(kSocksHello + socks_to("blocked.example", 443));
    EXPECT_TRUE(world.hears(client, wire::socks5_reply(wire::Socks5Code::not_allowed)));
    Peer literal = world.connect(TcpWorld::gateway());
    literal.send(kSocksHello + socks_to({127, 0, 0, 1}, 80));
    EXPECT_TRUE(world.hears(literal, wire::socks5_reply(wire::Socks5Code::not_allowed)));
    Peer closed = world.connect(TcpWorld::gateway());
    closed.send(kSocksHello + socks_to("closed.example", 443));
    EXPECT_TRUE(world.hears(closed, wire::socks5_reply(wire::Socks5Code::connection_refused)));
}

TEST(DnsStream, ServesNamesOverTcpAtAnyAddress) {
    TcpWorld world;
    for (const Endpoint& asked : {TcpWorld::gateway(53), TcpWorld::literal("9.9.9.9", 53)}) {
        Peer client = world.connect(asked);
        wire::DnsQuestion question{*wire::DnsName::from_host_name("example.org"), wire::DnsType::a};
        std::string frame = wire::dns_frame(wire::write_dns_query(7, question));
        client.send(frame.substr(0, 5));
        world.turn(1);
        client.send(frame.substr(5) + frame);
        EXPECT_TRUE(world.until([&] {
            client.poll();
            std::string_view rest = client.received;
            wire::DnsFrame first = wire::take_dns_frame(rest), second = wire::take_dns_frame(rest);
            return second.state == wire::DnsFrame::State::message &&
                   wire::parse_dns_reply(first.message, 7, question).ipv4.size() == 1;
        }));
        client.end_writing();
        EXPECT_TRUE(world.is_ended(client));
    }
    EXPECT_TRUE(world.is_empty());
}

Egress through_proxy() {
    auto upstream = parse_upstream_proxy("http://user:secret@203.0.113.99:3128",
                                         "direct.example,other.example", config::from_flag("--test"));
    EXPECT_TRUE(upstream.ok());
    return {.rules = {.block = items({"blocked.example"})}, .upstream = *upstream};
}

TEST(Upstream, ChainsConnect) {
    TcpWorld world(through_proxy());
    // The name can't be resolved here; the proxy resolves it.
    Peer client = world.connect(world.inside("only.proxy.example", 443));
    client.send(client_hello("only.proxy.example"));
    Peer proxy = world.accept();
    EXPECT_EQ(world.dialled()[0], TcpWorld::literal("203.0.113.99", 3128));
    EXPECT_TRUE(world.hears(proxy, "\r\n\r\n"));
    EXPECT_TRUE(proxy.received.starts_with("CONNECT only.proxy.example:443 HTTP/1.1\r\n"));
    EXPECT_NE(proxy.received.find("Proxy-Authorization: Basic "), std::string::npos);
    EXPECT_EQ(proxy.received.find("\x16"), std::string::npos) << "it was not asked yet";
    proxy.send("HTTP/1.1 200 Fine\r\n\r\nearly");
    EXPECT_TRUE(world.hears(proxy, client_hello("only.proxy.example")));
    EXPECT_TRUE(world.hears(client, "early"));
}

TEST(Upstream, PassesTheProxysRefusalOn) {
    TcpWorld world(through_proxy());
    Peer client = world.connect(world.inside("example.org", 80));
    client.send(get("example.org"));
    Peer proxy = world.accept();
    EXPECT_TRUE(world.hears(proxy, "\r\n\r\n"));
    proxy.send("HTTP/1.1 407 Who are you\r\n\r\n");
    EXPECT_TRUE(world.hears(client, "HTTP/1.1 502 "));
    EXPECT_TRUE(world.hears(client, "407"));
}

TEST(Upstream, IsNotAskedForWhatThePolicyRefusesNorForDirectHosts) {
    TcpWorld world(through_proxy());
    Peer refused = world.connect(world.inside("blocked.example", 80));
    refused.send(get("blocked.example"));
    EXPECT_TRUE(world.hears(refused, "HTTP/1.1 403 "));
    EXPECT_TRUE(world.dialled().empty());
    Peer direct = world.connect(world.inside("other.example", 443));
    Peer server = world.accept();
    EXPECT_EQ(world.dialled()[0], TcpWorld::literal("203.0.113.11", 443));
}

}  // namespace
}  // namespace network::gateway
