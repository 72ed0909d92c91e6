// SPDX-License-Identifier: MIT
#include "network/gateway/names/resolver.h"

#include <dirent.h>
#include <gtest/gtest.h>

#include <set>

#include "gateway/fake_dns.h"
#include "gateway/test_context.h"
#include "network/wire/dns/dns_lookup.h"

namespace network::gateway {
namespace {

using wire::DnsCode;
using wire::DnsQuery;
using wire::DnsType;
using Outcome = Resolution::Outcome;
using Messages = std::vector<std::string>;

size_t open_descriptors() {
    size_t count = 0;
    DIR* directory = ::opendir("/proc/self/fd");
    while (::readdir(directory)) ++count;
    ::closedir(directory);
    return count;
}

// An A record but no AAAA record.
FakeDns::Handler only_v4(wire::Ipv4 address, uint32_t time_to_live = 60) {
    return [=](const DnsQuery& query, bool) -> Messages {
        return {is_type(query, DnsType::a) ? wire::answer_address(query, address, time_to_live)
                                           : wire::answer_no_data(query)};
    };
}

FakeDns::Handler failing_with(DnsCode code) {
    return [=](const DnsQuery& query, bool) -> Messages { return {wire::answer_failure(query, code)}; };
}

Messages silence(const DnsQuery&, bool) {
    return {};
}

class ResolverTest : public ::testing::Test {
  protected:
    ResolverTest() { EXPECT_TRUE(loop_.open().ok()); }

    void start(const FakeDns& server, std::string resolv_conf = "nameserver 127.0.0.1\n",
               std::string hosts = "") {
        resolver_ = std::make_unique<Resolver>(
            loop_, ResolverFiles{std::move(hosts), std::move(resolv_conf), server.port()});
    }
    Resolution look_up(std::string_view name) {
        std::optional<Resolution> got;
        resolver_->look_up(*HostName::parse(name), [&](const Resolution& resolution) { got = resolution; });
        EXPECT_TRUE(run_until(loop_, [&] { return got.has_value(); })) << name;
        return got.value_or(Resolution{});
    }
    static std::string first(const Resolution& resolution) {
        return resolution.addresses.empty() ? "none" : resolution.addresses.front().str();
    }

    base::EventLoop loop_;
    std::unique_ptr<Resolver> resolver_;
};

TEST_F(ResolverTest, AsksBothFamiliesAtOnce) {
    FakeDns server(loop_, [](const DnsQuery& query, bool) -> Messages {
        wire::Ipv6 v6 = {0x20, 0x01, 0x0d, 0xb8};
        return {is_type(query, DnsType::a) ? wire::answer_address(query, wire::Ipv4{192, 0, 2, 1})
                                           : wire::answer_address(query, v6)};
    });
    start(server);
    Resolution resolution = look_up("both.example.org");
    EXPECT_EQ(resolution.outcome, Outcome::found);
    ASSERT_EQ(resolution.addresses.size(), 2u);
    EXPECT_EQ(resolution.addresses[0].str(), "192.0.2.1");
    EXPECT_EQ(resolution.addresses[1].str(), "2001:db8::");
    EXPECT_EQ(server.asked().size(), 2u);
    EXPECT_EQ(look_up("single").outcome, Outcome::found) << "one label is looked up as it is";
    EXPECT_EQ(server.asked().back().name, "single");
}

TEST_F(ResolverTest, AsksServersOverIpv6) {
    in_a_network_of_its_own([this] {
        FakeDns server(loop_, only_v4({192, 0, 2, 1}), "::1");
        start(server, "nameserver ::1\n");
        EXPECT_EQ(first(look_up("a.example.org")), "192.0.2.1");
    });
}

TEST_F(ResolverTest, LooksIntoTheHostsFileFirst) {
    FakeDns server(loop_, silence);
    start(server, "nameserver 127.0.0.1\n", "10.0.0.5 db.example.org db\n");
    EXPECT_EQ(first(look_up("db")), "10.0.0.5");
    EXPECT_TRUE(server.asked().empty());
}

TEST_F(ResolverTest, KeepsLocalhostAtHome) {
    FakeDns server(loop_, only_v4({6, 6, 6, 6}));
    start(server, "nameserver 127.0.0.1\n", "127.0.0.1 localhost\n");
    for (const char* name : {"localhost", "db.localhost", "LOCALHOST."})
        EXPECT_EQ(look_up(name).outcome, Outcome::no_such_name) << name;
    EXPECT_TRUE(server.asked().empty());
}

TEST_F(ResolverTest, TakesNoForgedAnswer) {
    base::Fd stranger = bound_socket(SOCK_DGRAM, "127.0.0.1", 0);
    FakeDns* self = nullptr;
    FakeDns server(loop_, [&](const DnsQuery& query, bool) -> Messages {
        DnsQuery other_id = query, other_name = query;
        other_id.id = static_cast<uint16_t>(query.id + 1);
        other_name.question->name = *wire::DnsName::from_host_name("evil.example.org");
        // An attacker with the right id and question, but not the server's address.
        std::string true_one = wire::answer_address(query, wire::Ipv4{6, 6, 6, 6});
        ::sendto(stranger.get(), true_one.data(), true_one.size(), 0, &self->asker().any,
                 self->asker().length);
        return {wire::answer_address(other_id, wire::Ipv4{6, 6, 6, 6}),
                wire::answer_address(other_name, wire::Ipv4{6, 6, 6, 6}), "x",
                wire::answer_address(query, wire::Ipv4{192, 0, 2, 1})};
    });
    self = &server;
    start(server);
    Resolution resolution = look_up("a.example.org");
    ASSERT_EQ(resolution.addresses.size(), 1u);
    EXPECT_EQ(first(resolution), "192.0.2.1");
    EXPECT_EQ(server.asked().size(), 2u);
}

TEST_F(ResolverTest, IdsAndPortsAreFresh) {
    std::set<uint16_t> ids, ports;
    FakeDns* self = nullptr;
    FakeDns server(loop_, [&](const DnsQuery& query, bool) -> Messages {
        ids.insert(query.id);
        ports.insert(self->asker().endpoint()->port);
        return {wire::answer_no_data(query)};
    });
    self = &server;
    start(server);
    for (int i = 0; i < 20; ++i) look_up("n" + std::to_string(i) + ".example.org");
    EXPECT_GT(ids.size(), 35u);
    EXPECT_GT(ports.size(), 20u);
}

TEST_F(ResolverTest, AsksAgainOverTcpWhereAnAnswerWasCut) {
    FakeDns server(loop_, [](const DnsQuery& query, bool is_tcp) -> Messages {
        std::string answer = only_v4({192, 0, 2, 7})(query, is_tcp).front();
        if (!is_tcp) answer[2] = static_cast<char>(answer[2] | 0x02);
        return {answer};
    });
    start(server);
    EXPECT_EQ(first(look_up("large.example.org")), "192.0.2.7");
    EXPECT_EQ(std::ranges::count_if(server.asked(), [](const auto& question) { return question.is_tcp; }), 2);
}

TEST_F(ResolverTest, GoesToTheNextServerWhereOneIsSilent) {
    FakeDns good(loop_, only_v4({192, 0, 2, 1}), "127.0.0.3");
    FakeDns silent(loop_, silence, "127.0.0.2", good.port());
    start(good, "nameserver 127.0.0.2\nnameserver 127.0.0.3\noptions timeout:3\n");
    EXPECT_EQ(first(look_up("a.example.org")), "192.0.2.1");
    EXPECT_EQ(silent.asked().size(), 2u);
}

TEST_F(ResolverTest, GoesToTheNextServerAtOnceWhereNobodyListensOrOneRefuses) {
    FakeDns good(loop_, only_v4({192, 0, 2, 1}), "127.0.0.3");
    FakeDns refusing(loop_, failing_with(DnsCode::refused), "127.0.0.2", good.port());
    start(good, "nameserver 127.0.0.4\nnameserver 127.0.0.2\nnameserver 127.0.0.3\n");
    auto begin = base::EventLoop::Clock::now();
    EXPECT_EQ(first(look_up("a.example.org")), "192.0.2.1");
    EXPECT_LT(base::EventLoop::Clock::now() - begin, std::chrono::seconds(5))
        << "the time that a silent one is given";
    EXPECT_EQ(refusing.asked().size(), 2u);
}

TEST_F(ResolverTest, SaysWhatTheServersSay) {
    FakeDns server(loop_, failing_with(DnsCode::no_such_name));
    start(server);
    EXPECT_EQ(look_up("none.example.org").outcome, Outcome::no_such_name);
    server.answer_with([](const DnsQuery& query, bool) -> Messages { return {wire::answer_no_data(query)}; });
    EXPECT_EQ(look_up("empty.example.org").outcome, Outcome::no_address);
    server.answer_with(failing_with(DnsCode::server_failure));
    Resolution failed = look_up("failing.example.org");
    EXPECT_EQ(failed.outcome, Outcome::failed);
    EXPECT_EQ(failed.reason, "127.0.0.1 could not find out");
    server.answer_with([](const DnsQuery& query, bool) -> Messages {
        return {is_type(query, DnsType::a) ? wire::answer_address(query, wire::Ipv4{192, 0, 2, 1})
                                           : wire::answer_failure(query, DnsCode::server_failure)};
    });
    EXPECT_EQ(look_up("half.example.org").outcome, Outcome::found);
    server.answer_with([](const DnsQuery& query, bool) -> Messages {
        return {is_type(query, DnsType::a) ? wire::answer_no_data(query)
                                           : wire::answer_failure(query, DnsCode::server_failure)};
    });
    EXPECT_EQ(look_up("unclear.example.org").outcome, Outcome::failed);
}

TEST_F(ResolverTest, TimesOutWithAReason) {
    FakeDns server(loop_, silence);
    start(server, "nameserver 127.0.0.1\noptions timeout:1 attempts:1\n");
    int told = 0;
    resolver_->when_unanswered([&] { ++told; });
    Resolution failed = look_up("a.example.org");
    EXPECT_EQ(failed.outcome, Outcome::failed);
    EXPECT_EQ(failed.reason, "no answer from 127.0.0.1");
    EXPECT_EQ(told, 1);
    server.answer_with(failing_with(DnsCode::no_such_name));
    look_up("b.example.org");
    EXPECT_EQ(told, 1) << "an answer, though a sad one";
}

TEST_F(ResolverTest, KeepsAnswersSoThatWhatWasJudgedIsWhatIsDialled) {
    FakeDns server(loop_, only_v4({192, 0, 2, 1}, 0));
    start(server);
    look_up("rebind.example.org");
    server.answer_with(only_v4({10, 0, 0, 1}, 0));
    std::string address;
    Resolver::Ticket ticket = resolver_->look_up(*HostName::parse("rebind.example.org"),
                                                 [&](const Resolution& kept) { address = first(kept); });
    EXPECT_EQ(ticket, 0u);
    EXPECT_EQ(address, "192.0.2.1") << "called back at once";
    EXPECT_EQ(server.asked().size(), 2u);
    resolver_->renew({"", "nameserver 127.0.0.1\n", server.port()});
    EXPECT_EQ(first(look_up("rebind.example.org")), "10.0.0.1") << "a new network is asked anew";
}

TEST_F(ResolverTest, DoesNotKeepAFailure) {
    FakeDns server(loop_, failing_with(DnsCode::server_failure));
    start(server);
    EXPECT_EQ(look_up("a.example.org").outcome, Outcome::failed);
    server.answer_with(only_v4({192, 0, 2, 1}));
    EXPECT_EQ(look_up("a.example.org").outcome, Outcome::found);
}

TEST_F(ResolverTest, AskersForOneNameShareALookupAndCanLeave) {
    FakeDns server(loop_, only_v4({192, 0, 2, 1}));
    start(server);
    HostName name = *HostName::parse("a.example.org");
    int stayed = 0, left = 0, late = 0;
    Resolver::Ticket leaves_later = 0;
    Resolver::Ticket leaves = resolver_->look_up(name, [&](const Resolution&) { ++left; });
    resolver_->look_up(name, [&](const Resolution&) {
        ++stayed;
        resolver_->cancel(leaves_later);
    });
    leaves_later = resolver_->look_up(name, [&](const Resolution&) { ++late; });
    EXPECT_NE(leaves_later, 0u);
    resolver_->cancel(leaves);
    EXPECT_EQ(leaves, 0u);
    EXPECT_TRUE(run_until(loop_, [&] { return stayed == 1; }));
    loop_.turn(std::chrono::milliseconds(0));
    EXPECT_EQ(left, 0);
    EXPECT_EQ(late, 0) << "cancelled by one who was told before";
    EXPECT_EQ(server.asked().size(), 2u);
}

TEST_F(ResolverTest, BoundsItsWorkAndLeaksNothing) {
    FakeDns server(loop_, silence);
    start(server);
    size_t before = open_descriptors();
    std::vector<Resolver::Ticket> tickets;
    int failed = 0, called = 0;
    for (size_t i = 0; i < 3 * Resolver::kMostAtWork; ++i) {
        tickets.push_back(resolver_->look_up(*HostName::parse("n" + std::to_string(i) + ".example.org"),
                                             [&](const Resolution& resolution) {
                                                 ++called;
                                                 failed += resolution.reason == "too many lookups at once";
                                             }));
    }
    EXPECT_EQ(failed, static_cast<int>(Resolver::kMostAtWork));
    loop_.turn(std::chrono::milliseconds(0));
    loop_.turn(std::chrono::milliseconds(0));
    EXPECT_LE(open_descriptors(), before + 2 * Resolver::kMostAtWork);
    EXPECT_GT(open_descriptors(), before + Resolver::kMostAtWork);
    for (Resolver::Ticket& ticket : tickets) resolver_->cancel(ticket);
    loop_.turn(std::chrono::milliseconds(0));
    EXPECT_EQ(open_descriptors(), before);
    EXPECT_EQ(called, failed);
    server.answer_with(only_v4({192, 0, 2, 1}));
    EXPECT_EQ(look_up("after.example.org").outcome, Outcome::found) << "places are free again";
}

TEST_F(ResolverTest, ThoseWhoWaitHaveTheirTurn) {
    FakeDns* self = nullptr;
    bool is_holding = true;
    std::vector<std::pair<std::string, SocketAddress>> held;
    FakeDns server(loop_, [&](const DnsQuery& query, bool) -> Messages {
        std::string answer = only_v4({192, 0, 2, 1})(query, false).front();
        if (!is_holding) return {answer};
        held.emplace_back(answer, self->asker());
        return {};
    });
    self = &server;
    start(server);
    size_t found = 0;
    for (size_t i = 0; i < 2 * Resolver::kMostAtWork; ++i) {
        resolver_->look_up(
            *HostName::parse("n" + std::to_string(i) + ".example.org"),
            [&](const Resolution& resolution) { found += resolution.outcome == Outcome::found; });
        // The server's socket buffer can't store hundreds of questions at once.
        if (i % 16 == 0) loop_.turn(std::chrono::milliseconds(0));
    }
    EXPECT_TRUE(run_until(loop_, [&] { return held.size() == 2 * Resolver::kMostAtWork; }));
    EXPECT_EQ(found, 0u);
    is_holding = false;
    for (const auto& [answer, asker] : held) {
        server.send(answer, asker);
        loop_.turn(std::chrono::milliseconds(0));
    }
    EXPECT_TRUE(run_until(loop_, [&] { return found == 2 * Resolver::kMostAtWork; })) << found;
}

TEST_F(ResolverTest, PassesOtherQuestionsOn) {
    FakeDns server(loop_, [](const DnsQuery& query, bool) -> Messages {
        EXPECT_FALSE(query.edns) << "the asker does not speak it";
        return {wire::answer_pointer(query, *wire::DnsName::from_host_name("target.example.org"))};
    });
    start(server);
    DnsQuery query{.id = 0x1234};
    query.question = wire::DnsQuestion{*wire::DnsName::from_host_name("a.example.org"), DnsType::mx};
    std::string reply;
    resolver_->ask(query, [&](std::string_view message) { reply = message; });
    EXPECT_TRUE(run_until(loop_, [&] { return !reply.empty(); }));
    EXPECT_EQ(wire::parse_dns_reply(reply, 0x1234, *query.question).kind, wire::DnsReply::Kind::answer);
    EXPECT_EQ(server.asked().size(), 1u);

    server.answer_with(failing_with(DnsCode::refused));
    bool is_called = false;
    resolver_->ask(query, [&](std::string_view message) { is_called = message.empty(); });
    EXPECT_TRUE(run_until(loop_, [&] { return is_called; }));
}

TEST_F(ResolverTest, MayEndWithWorkUnderWay) {
    FakeDns server(loop_, silence);
    size_t before = open_descriptors();
    start(server);
    bool is_called = false;
    resolver_->look_up(*HostName::parse("a.example.org"), [&](const Resolution&) { is_called = true; });
    loop_.turn(std::chrono::milliseconds(20));
    resolver_.reset();
    loop_.turn(std::chrono::milliseconds(0));
    EXPECT_EQ(open_descriptors(), before);
    EXPECT_FALSE(is_called);
}

}  // namespace
}  // namespace network::gateway
