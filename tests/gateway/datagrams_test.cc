// SPDX-License-Identifier: MIT
// The clients are in a network in which every address is local. So are the servers, on other addresses of
// 127.0.0.0/8, which only a session without any filter may reach.
#include "network/gateway/datagrams/datagrams.h"

#include <cstring>
#include <ctime>

#include "gateway/test_context.h"
#include "network/gateway/broker/broker.h"

namespace network::gateway {
namespace {

using policy::NetworkMode;

Egress with_mode(NetworkMode mode) {
    Egress egress;
    egress.rules.mode = mode;
    return egress;
}

struct World {
    explicit World(Egress egress, const std::string& server_address = "127.0.0.9")
        : context(std::move(egress), 53, server_address + " time.example.org\n"),
          server(bound_socket(SOCK_DGRAM, server_address, 0)),
          port(own_endpoint(server.get())->port),
          datagrams(std::make_unique<Datagrams>(*context.gateway)) {
        base::Fd v4 = bound_socket(SOCK_DGRAM, "0.0.0.0", 0);
        listener_port = own_endpoint(v4.get())->port;
        datagrams->listen(std::move(v4), port);
        base::Fd v6 = bound_socket(SOCK_DGRAM, "::", listener_port);
        EXPECT_TRUE(v6);
        datagrams->listen(std::move(v6), port);
    }

    // A client that accepts answers only from the address that it sent to.
    base::Fd client_of(const Address& destination) const {
        SocketAddress to(Endpoint{destination, listener_port});
        base::Fd client(::socket(to.family(), SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
        EXPECT_EQ(::connect(client.get(), &to.any, to.length), 0);
        return client;
    }
    std::string receive(int socket, SocketAddress* from = nullptr) {
        char buffer[2048];
        SocketAddress sender;
        ssize_t count = -1;
        EXPECT_TRUE(run_until(context.loop, [&] {
            sender.length = sizeof sender.room;
            count = ::recvfrom(socket, buffer, sizeof buffer, MSG_DONTWAIT, &sender.any, &sender.length);
            return count >= 0;
        }));
        if (from) *from = sender;
        return std::string(buffer, count > 0 ? static_cast<size_t>(count) : 0);
    }
    void expect_round_trip(int client, const std::string& question) {
        ASSERT_EQ(::send(client, question.data(), question.size(), 0), static_cast<ssize_t>(question.size()));
        SocketAddress from;
        EXPECT_EQ(receive(server.get(), &from), question);
        std::string answer = "answer to " + question;
        ::sendto(server.get(), answer.data(), answer.size(), 0, &from.any, from.length);
        EXPECT_EQ(receive(client), answer);
    }
    // No answer may arrive, so wait for the entry in the record instead.
    void expect_refusal(const Address& destination, std::string_view cause, std::string_view target) {
        base::Fd client = client_of(destination);
        size_t before = context.record().size();
        for (int i = 0; i < 3; ++i) ASSERT_EQ(::send(client.get(), "x", 1, 0), 1);
        EXPECT_TRUE(run_until(context.loop, [&] { return context.record().size() > before; })) << target;
        for (int i = 0; i < 3; ++i) context.loop.turn(std::chrono::milliseconds(5));
        ASSERT_EQ(context.record().size(), before + 1) << "one line per second";
        base::Json line = context.record().back();
        EXPECT_EQ(line.text("verdict"), "deny");
        EXPECT_EQ(line.text("kind"), "datagrams");
        EXPECT_EQ(line.text("cause"), cause);
        EXPECT_EQ(line.text(line.find("name") ? "name" : "address"), target);
        char buffer[16];
        EXPECT_LT(::recv(server.get(), buffer, sizeof buffer, MSG_DONTWAIT), 0) << "the server saw nothing";
        EXPECT_EQ(datagrams->flows(), 0u);
    }

    TestContext context;
    base::Fd server;
    uint16_t port;
    uint16_t listener_port = 0;
    std::unique_ptr<Datagrams> datagrams;
};

TEST(Datagrams, GoBothWaysByNameInBothFamilies) {
    in_a_network_of_its_own([] {
        World world(with_mode(NetworkMode::open));
        Names::Pair pair = *world.context.names.addresses_of(*HostName::parse("time.example.org"));
        for (const Address& address : {pair.v4, pair.v6}) {
            base::Fd client = world.client_of(address);
            world.expect_round_trip(client.get(), "first");
            world.expect_round_trip(client.get(), "second");
        }
        EXPECT_EQ(world.datagrams->flows(), 2u);
        EXPECT_TRUE(world.context.record().empty()) << "an entry is written at the end";
        world.datagrams.reset();
        ASSERT_EQ(world.context.record().size(), 2u);
        base::Json line = world.context.record().front();
        EXPECT_EQ(line.text("kind"), "datagrams");
        EXPECT_EQ(line.text("verdict"), "allow");
        EXPECT_EQ(line.text("name"), "time.example.org");
        EXPECT_EQ(line.text("address"), "127.0.0.9");
        EXPECT_EQ(line.number("port"), world.port);
        EXPECT_EQ(line.number("sent"), 11);
        EXPECT_EQ(line.number("received"), 31);
    });
}

TEST(Datagrams, GoToLiteralAddressesThatAreOpen) {
    in_a_network_of_its_own([] {
        World world(with_mode(NetworkMode::open));
        base::Fd client = world.client_of(*Address::parse("127.0.0.9"));
        world.expect_round_trip(client.get(), "hello");
    });
}

TEST(Datagrams, WaitInAQueueOfBoundedLengthForALookup) {
    in_a_network_of_its_own([] {
        World world(with_mode(NetworkMode::open));
        std::vector<std::pair<std::string, SocketAddress>> held;
        FakeDns* self = nullptr;
        FakeDns dns(world.context.loop, [&](const wire::DnsQuery& query, bool) -> std::vector<std::string> {
            std::string answer = is_type(query, wire::DnsType::a)
                                     ? wire::answer_address(query, wire::Ipv4{127, 0, 0, 9})
                                     : wire::answer_no_data(query);
            held.emplace_back(answer, self->asker());
            return {};
        });
        self = &dns;
        world.context.resolver->renew({"", "nameserver 127.0.0.1\n", dns.port()});
        base::Fd client =
            world.client_of(world.context.names.addresses_of(*HostName::parse("slow.example.org"))->v4);
        for (size_t i = 0; i < Datagrams::kMostQueued + 4; ++i) {
            std::string payload = std::to_string(i);
            ::send(client.get(), payload.data(), payload.size(), 0);
        }
        EXPECT_TRUE(run_until(world.context.loop, [&] { return held.size() == 2; }));
        for (const auto& [answer, asker] : held) dns.send(answer, asker);
        for (size_t i = 0; i < Datagrams::kMostQueued; ++i)
            EXPECT_EQ(world.receive(world.server.get()), std::to_string(i));
        world.expect_round_trip(client.get(), "after");
    });
}

TEST(Datagrams, AreRefusedWhereNoRuleOpensThem) {
    in_a_network_of_its_own([] {
        World world(with_mode(NetworkMode::filtered));
        Address named = world.context.names.addresses_of(*HostName::parse("time.example.org"))->v4;
        world.expect_refusal(named, "udp", "time.example.org");
        world.expect_refusal(*Address::parse("192.0.2.1"), "literal address", "192.0.2.1");
        world.expect_refusal(*Address::parse("10.0.0.1"), "address floor", "10.0.0.1");
        world.expect_refusal(*Address::parse("198.18.5.5"), "literal address", "198.18.5.5");
        world.expect_refusal(fixed_v6(Fixed::host), "literal address", "fd61:6765:6e74::3");
    });
}

TEST(Datagrams, AreRefusedWhereTheNamePointsInside) {
    in_a_network_of_its_own([] {
        Egress egress = with_mode(NetworkMode::filtered);
        egress.rules.udp = user_items({"time.example.org"});
        World world(egress);
        Address named = world.context.names.addresses_of(*HostName::parse("time.example.org"))->v4;
        world.expect_refusal(named, "address floor", "time.example.org");
    });
}

// Threat: HTTP/3 carries requests past the rules about them.
TEST(Datagrams, AreClosedToHostsWhoseRequestsAreRead) {
    in_a_network_of_its_own([] {
        World world(with_mode(NetworkMode::open));
        requests::RequestSettings settings{.block = user_items({"DELETE other.example.org/**"})};
        tls::SessionRoot root = *tls::SessionRoot::make(std::time(nullptr));
        auto broker = *Broker::make(
            {.spec = {.requests = settings},
             .intermediate = *root.issue(std::vector<std::string>{"example.org"}, std::time(nullptr)),
             .roots = {}});
        world.context.gateway->broker = broker.get();
        Address named = world.context.names.addresses_of(*HostName::parse("time.example.org"))->v4;
        base::Fd client = world.client_of(named);
        world.expect_round_trip(client.get(), "the control");
        EXPECT_EQ(world.datagrams->judge_again(), 0u);
        settings.block = user_items({"DELETE time.example.org/**"});
        ASSERT_TRUE(broker->renew(settings, std::nullopt));
        EXPECT_EQ(world.datagrams->judge_again(), 1u) << "also a flow that was open before";
        EXPECT_EQ(world.context.record().back().text("cause"), "policy change");
        world.expect_refusal(named, "udp", "time.example.org");
        EXPECT_NE(world.context.record().back().text("reason").find("HTTP/3"), std::string::npos);
        settings.opaque = user_items({"time.example.org"});
        ASSERT_TRUE(broker->renew(settings, std::nullopt));
        base::Fd opaque = world.client_of(named);
        world.expect_round_trip(opaque.get(), "not read");
    });
}

// Adds a public address to this host.
void add_address(const char* text) {
    base::Fd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    struct ifreq request = {};
    std::strcpy(request.ifr_name, "lo:1");
    SocketAddress address(Endpoint{*Address::parse(text), 0});
    std::memcpy(&request.ifr_addr, &address.v4, sizeof address.v4);
    ASSERT_EQ(::ioctl(socket.get(), SIOCSIFADDR, &request), 0);
}

TEST(Datagrams, NeverReachThisHostItself) {
    in_a_network_of_its_own([] {
        World world(with_mode(NetworkMode::open), "127.0.0.1");
        world.expect_refusal(*Address::parse("127.0.0.1"), "address floor", "127.0.0.1");
        add_address("198.51.100.7");
        World outside(with_mode(NetworkMode::open), "198.51.100.7");
        outside.expect_refusal(*Address::parse("198.51.100.7"), "address floor", "198.51.100.7");
    });
}

TEST(Datagrams, AreBoundedInFlows) {
    in_a_network_of_its_own([] {
        World world(with_mode(NetworkMode::open));
        std::vector<base::Fd> clients;
        for (size_t i = 0; i < Datagrams::kMostFlows; ++i) {
            clients.push_back(world.client_of(*Address::parse("127.0.0.9")));
            ::send(clients.back().get(), "x", 1, 0);
            EXPECT_EQ(world.receive(world.server.get()), "x");
        }
        EXPECT_EQ(world.datagrams->flows(), Datagrams::kMostFlows);
        base::Fd one_more = world.client_of(*Address::parse("127.0.0.9"));
        ::send(one_more.get(), "x", 1, 0);
        EXPECT_TRUE(run_until(world.context.loop, [&] { return !world.context.record().empty(); }));
        EXPECT_EQ(world.context.record().back().text("cause"), "limit");
        EXPECT_EQ(world.datagrams->flows(), Datagrams::kMostFlows);
    });
}

TEST(Datagrams, EndWhereNobodyListens) {
    in_a_network_of_its_own([] {
        World world(with_mode(NetworkMode::open));
        world.server.reset();
        base::Fd client = world.client_of(*Address::parse("127.0.0.9"));
        ::send(client.get(), "x", 1, 0);
        EXPECT_TRUE(run_until(world.context.loop, [&] { return !world.context.record().empty(); }));
        EXPECT_EQ(world.context.record().back().text("cause"), "unreachable");
        EXPECT_EQ(world.datagrams->flows(), 0u);
    });
}

}  // namespace
}  // namespace network::gateway
