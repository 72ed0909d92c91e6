// SPDX-License-Identifier: MIT
#include "network/gateway/names/name_server.h"

#include "gateway/test_context.h"
#include "network/wire/bytes.h"
#include "network/wire/dns/dns_lookup.h"

namespace network::gateway {
namespace {

using policy::NetworkMode;
using wire::DnsCode;
using wire::DnsQuery;
using wire::DnsType;
using Messages = std::vector<std::string>;

// Every name has this one address.
FakeDns::Handler everything_is(wire::Ipv4 address) {
    return [=](const DnsQuery& query, bool) -> Messages {
        return {is_type(query, DnsType::a) ? wire::answer_address(query, address)
                                           : wire::answer_no_data(query)};
    };
}

struct Got {
    wire::DnsReply reply;
    std::string message;

    std::string address() const {
        if (!reply.ipv4.empty()) return Address::from_v4(reply.ipv4.front()).str();
        if (!reply.ipv6.empty()) return Address::from_v6(reply.ipv6.front()).str();
        return "none";
    }
    bool says(std::string_view text) const { return message.find(text) != std::string::npos; }
    // No record, but not a failure either.
    bool is_empty() const { return reply.code == DnsCode::no_error && address() == "none"; }
};

// The fake server runs in the context's loop, so the context comes first; the resolver gets the server's port
// afterwards.
struct World {
    explicit World(Egress egress = {}, FakeDns::Handler handler = everything_is({93, 184, 216, 34}),
                   const std::string& hosts = "")
        : context(std::move(egress)), server(context.loop, std::move(handler)), names(*context.gateway) {
        context.resolver->renew({hosts, "nameserver 127.0.0.1\n", server.port()});
    }

    Got ask(const wire::DnsQuestion& question) {
        std::optional<std::string> reply;
        names.serve(wire::write_dns_query(7, question), [&](std::string message) { reply = message; });
        EXPECT_TRUE(run_until(context.loop, [&] { return reply.has_value(); }));
        Got got{wire::parse_dns_reply(reply.value_or(""), 7, question), reply.value_or("")};
        EXPECT_EQ(got.reply.kind, wire::DnsReply::Kind::answer) << question.name.text();
        return got;
    }
    Got ask(std::string_view name, DnsType type = DnsType::a) {
        return ask({.name = *wire::DnsName::from_host_name(name), .type = type});
    }

    TestContext context;
    FakeDns server;
    NameServer names;
};

Egress proxied(std::initializer_list<const char*> allow) {
    Egress egress;
    egress.rules.mode = NetworkMode::proxied;
    egress.rules.allow = user_items(allow);
    return egress;
}

TEST(NameServer, GivesAddressesOfItsOwnInBothFamilies) {
    World world;
    EXPECT_EQ(world.ask("www.example.org").address(), "198.18.1.0");
    EXPECT_EQ(world.ask("WWW.example.org", DnsType::aaaa).address(), "fd61:6765:6e74::100")
        << "though the name itself has IPv4 alone";
    EXPECT_EQ(world.server.asked().size(), 2u);
    EXPECT_LE(world.ask("www.example.org").reply.time_to_live, 10u);
}

TEST(NameServer, RefusesWithoutALookup) {
    World world(proxied({"*.example.org"}));
    Got got = world.ask("c2VjcmV0LWtleS1iYXNlNjQ.data.evil.example.com");
    EXPECT_EQ(got.reply.code, DnsCode::refused);
    EXPECT_TRUE(got.says("network.allow")) << "the text says what to do";
    for (DnsType type :
         {DnsType::aaaa, DnsType::txt, DnsType::mx, DnsType::https, DnsType::any, DnsType::ptr})
        EXPECT_EQ(world.ask("c2VjcmV0.evil.example.com", type).reply.code, DnsCode::refused);
    EXPECT_TRUE(world.server.asked().empty()) << "nothing left the host";
    EXPECT_EQ(world.ask("www.example.org").address(), "198.18.1.0");
}

TEST(NameServer, RefusesANameThatPointsInside) {
    for (wire::Ipv4 inside :
         {wire::Ipv4{10, 0, 0, 1}, {127, 0, 0, 1}, {169, 254, 169, 254}, {198, 18, 1, 0}}) {
        World world({}, everything_is(inside));
        Got got = world.ask("rebind.example.org");
        EXPECT_EQ(got.reply.code, DnsCode::refused);
        EXPECT_TRUE(got.says(Address::from_v4(inside).str()));
        EXPECT_EQ(world.ask("rebind.example.org", DnsType::aaaa).reply.code, DnsCode::refused);
    }
}

TEST(NameServer, OneUsableAddressIsEnough) {
    World world({}, [](const DnsQuery& query, bool) -> Messages {
        wire::Ipv6 outside = {0x26, 0x06};
        return {is_type(query, DnsType::a) ? wire::answer_address(query, wire::Ipv4{10, 0, 0, 1})
                                           : wire::answer_address(query, outside)};
    });
    EXPECT_EQ(world.ask("mixed.example.org").address(), "198.18.1.0");
}

TEST(NameServer, KeepsTheAnswerThatItJudged) {
    World world;
    EXPECT_EQ(world.ask("rebind.example.org").address(), "198.18.1.0");
    world.server.answer_with(everything_is({10, 0, 0, 1}));
    EXPECT_EQ(world.ask("rebind.example.org").address(), "198.18.1.0");
    EXPECT_EQ(world.server.asked().size(), 2u);
    EXPECT_EQ(world.ask("other.example.org").reply.code, DnsCode::refused);
}

TEST(NameServer, OpensPrivateNetworksAndServicesThatTheUserNamed) {
    Egress egress;
    egress.rules.private_networks = user_items({"10.20.0.0/16"});
    egress.rules.host_services = user_items({"10.1.2.3:5432"});
    World world(egress, everything_is({10, 20, 0, 1}));
    EXPECT_EQ(world.ask("cluster.example.org").address(), "198.18.1.0");
    world.server.answer_with(everything_is({10, 1, 2, 3}));
    EXPECT_EQ(world.ask("database.example.org").address(), "198.18.1.1");
    world.server.answer_with(everything_is({10, 1, 2, 4}));
    EXPECT_EQ(world.ask("beside.example.org").reply.code, DnsCode::refused);
}

TEST(NameServer, SaysTruthfullyWhatWasFound) {
    World world({}, [](const DnsQuery& query, bool) -> Messages {
        return {wire::answer_failure(query, DnsCode::no_such_name)};
    });
    EXPECT_EQ(world.ask("none.example.org").reply.code, DnsCode::no_such_name);
    world.server.answer_with(
        [](const DnsQuery& query, bool) -> Messages { return {wire::answer_no_data(query)}; });
    EXPECT_TRUE(world.ask("empty.example.org").is_empty());
    world.server.answer_with([](const DnsQuery& query, bool) -> Messages {
        return {wire::answer_failure(query, DnsCode::server_failure)};
    });
    Got failed = world.ask("failing.example.org");
    EXPECT_EQ(failed.reply.code, DnsCode::server_failure);
    EXPECT_TRUE(failed.says("127.0.0.1 could not find out"));
}

TEST(NameServer, KnowsTheNamesOfItsOwnAddressesAlone) {
    World world;
    world.ask("www.example.org");
    Got own = world.ask("0.1.18.198.in-addr.arpa", DnsType::ptr);
    EXPECT_EQ(own.reply.code, DnsCode::no_error);
    EXPECT_TRUE(own.says(wire::DnsName::from_host_name("www.example.org")->wire()));
    std::string v6 = "0.0.1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.4.7.e.6.5.6.7.6.1.6.d.f.ip6.arpa";
    EXPECT_TRUE(world.ask(v6, DnsType::ptr).says(wire::DnsName::from_host_name("www.example.org")->wire()));
    EXPECT_TRUE(world.ask("3.0.18.198.in-addr.arpa", DnsType::ptr)
                    .says(wire::DnsName::from_host_name(kHostServiceName)->wire()));
    size_t before = world.server.asked().size();
    for (const char* other : {"8.8.8.8.in-addr.arpa", "1.1.18.198.in-addr.arpa", "1.0.0.10.in-addr.arpa"})
        EXPECT_EQ(world.ask(other, DnsType::ptr).reply.code, DnsCode::no_such_name) << other;
    EXPECT_EQ(world.server.asked().size(), before);
}

TEST(NameServer, AnswersForThisHostItself) {
    World world(proxied({}));
    EXPECT_EQ(world.ask("localhost").address(), "127.0.0.1");
    EXPECT_EQ(world.ask("db.localhost", DnsType::aaaa).address(), "::1");
    EXPECT_TRUE(world.ask("localhost", DnsType::mx).is_empty());
    Got closed = world.ask(kHostServiceName);
    EXPECT_EQ(closed.reply.code, DnsCode::refused);
    EXPECT_TRUE(closed.says("host-port"));

    Egress egress = proxied({});
    egress.rules.host_services = user_items({"5432"});
    World with_service(egress);
    EXPECT_EQ(with_service.ask(kHostServiceName).address(), "198.18.0.3");
    EXPECT_EQ(with_service.ask(kHostServiceName, DnsType::aaaa).address(), "fd61:6765:6e74::3");
    EXPECT_TRUE(world.server.asked().empty() && with_service.server.asked().empty());
}

TEST(NameServer, DeclinesOtherTypesPolitely) {
    World world;
    EXPECT_TRUE(world.ask("www.example.org", DnsType::https).is_empty());
    EXPECT_TRUE(world.ask("www.example.org", DnsType::svcb).is_empty());
    Got text = world.ask("www.example.org", DnsType::txt);
    EXPECT_TRUE(text.is_empty());
    EXPECT_TRUE(text.says("network.dns_types"));
    EXPECT_EQ(world.ask("www.example.org", DnsType::any).reply.code, DnsCode::not_implemented);
    EXPECT_TRUE(world.server.asked().empty());
}

TEST(NameServer, PassesTypesOnThatTheUserNamed) {
    Egress egress = proxied({"*.example.org"});
    egress.passed_types = {static_cast<uint16_t>(DnsType::mx)};
    World world(egress, [](const DnsQuery& query, bool) -> Messages {
        return {wire::answer_pointer(query, *wire::DnsName::from_host_name("mail.example.org"))};
    });
    EXPECT_TRUE(world.ask("www.example.org", DnsType::mx)
                    .says(wire::DnsName::from_host_name("mail.example.org")->wire()));
    EXPECT_EQ(world.server.asked().size(), 1u);
    EXPECT_EQ(world.ask("www.example.com", DnsType::mx).reply.code, DnsCode::refused);
    EXPECT_TRUE(world.ask("www.example.org", DnsType::txt).is_empty());
    EXPECT_EQ(world.server.asked().size(), 1u);
}

TEST(NameServer, LooksNothingUpWhereTheSitesProxyDoes) {
    Egress egress = proxied({"*.example.org"});
    egress.passed_types = {static_cast<uint16_t>(DnsType::mx)};
    egress.upstream = *parse_upstream_proxy("http://proxy.example.net:3128", ".direct.example.org", {});
    World world(egress, everything_is({93, 184, 216, 34}));
    EXPECT_EQ(world.ask("www.example.org").address(), "198.18.1.0");
    EXPECT_TRUE(world.ask("www.example.org", DnsType::mx).is_empty());
    EXPECT_EQ(world.ask("www.example.com").reply.code, DnsCode::refused);
    EXPECT_TRUE(world.server.asked().empty());
    EXPECT_EQ(world.ask("a.direct.example.org").address(), "198.18.1.1");
    EXPECT_EQ(world.server.asked().size(), 2u);
}

wire::DnsQuestion question_of(std::string wire_name) {
    size_t at = 0;
    return {.name = *wire::DnsName::read(wire_name, at, wire::DnsName::Pointers::refused),
            .type = DnsType::a};
}

TEST(NameServer, RefusesNamesThatAreNone) {
    World world;
    using namespace std::string_literals;
    for (const std::string& name : {"\x05"s
                                    "a\nb c\x03"
                                    "org\0"s,
                                    "\x03"
                                    "127\x01"
                                    "1\0"s,
                                    "\0"s,
                                    "\x03"
                                    "a.b\x03"
                                    "org\0"s}) {
        wire::DnsQuestion question = question_of(name);
        std::string reply;
        world.names.serve(wire::write_dns_query(9, question), [&](std::string message) { reply = message; });
        EXPECT_EQ(wire::parse_dns_reply(reply, 9, question).code, DnsCode::refused) << question.name.text();
    }
    EXPECT_TRUE(world.server.asked().empty());
}

TEST(NameServer, AnswersFaultsAndIgnoresAnswers) {
    World world;
    auto serve = [&](std::string_view message) {
        std::string reply = "not called";
        world.names.serve(message, [&](std::string got) { reply = got; });
        return reply;
    };
    EXPECT_EQ(serve("short"), "");
    std::string query = wire::write_dns_query(7, question_of(std::string("\1a\3org\0", 7)));
    std::string answer = query;
    answer[2] = static_cast<char>(0x80);
    EXPECT_EQ(serve(answer), "");
    EXPECT_EQ(serve(query.substr(0, 20))[3] & 0xf, static_cast<int>(DnsCode::form_error));
}

TEST(NameServer, BoundsWhatIsOutstanding) {
    World world({}, [](const DnsQuery&, bool) -> Messages { return {}; });
    wire::DnsQuestion question{.name = *wire::DnsName::from_host_name("slow.example.org"),
                               .type = DnsType::a};
    size_t answered = 0;
    std::string last;
    for (size_t i = 0; i <= NameServer::kMostOutstanding; ++i) {
        world.names.serve(wire::write_dns_query(7, question), [&](std::string message) {
            ++answered;
            last = message;
        });
    }
    EXPECT_EQ(answered, 1u) << "the last one, at once";
    EXPECT_EQ(wire::parse_dns_reply(last, 7, question).code, DnsCode::server_failure);
}

TEST(NameServer, MayEndWithQuestionsUnderWay) {
    TestContext context{Egress()};
    FakeDns server(context.loop, everything_is({93, 184, 216, 34}));
    context.resolver->renew({"", "nameserver 127.0.0.1\n", server.port()});
    auto names = std::make_unique<NameServer>(*context.gateway);
    bool is_called = false;
    wire::DnsQuestion question{.name = *wire::DnsName::from_host_name("www.example.org"), .type = DnsType::a};
    names->serve(wire::write_dns_query(7, question), [&](const std::string&) { is_called = true; });
    names.reset();
    EXPECT_TRUE(run_until(context.loop, [&] { return server.asked().size() == 2; }));
    for (int i = 0; i < 5; ++i) context.loop.turn(std::chrono::milliseconds(5));
    EXPECT_FALSE(is_called);
}

TEST(NameServer, RecordsEachNameOnceAndRefusalsOncePerSecond) {
    World world(proxied({"*.example.org"}));
    for (int i = 0; i < 3; ++i) {
        world.ask("www.example.org");
        world.ask("www.example.org", DnsType::aaaa);
        world.ask("evil.example.com");
    }
    std::vector<base::Json> lines = world.context.record();
    ASSERT_EQ(lines.size(), 2u);
    EXPECT_EQ(lines[0].text("kind"), "lookup");
    EXPECT_EQ(lines[0].text("protocol"), "dns");
    EXPECT_EQ(lines[0].text("verdict"), "allow");
    EXPECT_EQ(lines[0].text("name"), "www.example.org");
    EXPECT_EQ(lines[0].text("address"), "93.184.216.34");
    EXPECT_EQ(lines[0].text("rule"), "*.example.org");
    EXPECT_EQ(lines[1].text("verdict"), "deny");
    EXPECT_EQ(lines[1].text("name"), "evil.example.com");
    EXPECT_EQ(world.context.journal.refusals().by_target.at("evil.example.com"), 1u);
}

// ---- Over UDP, in a network in which every address is local

std::string exchange(base::EventLoop& loop, const std::string& server, const std::string& query) {
    SocketAddress to(Endpoint{*Address::parse(server), 53});
    base::Fd client(::socket(to.family(), SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    // Connected: an answer from another address would not arrive.
    EXPECT_EQ(::connect(client.get(), &to.any, to.length), 0) << server;
    EXPECT_EQ(::send(client.get(), query.data(), query.size(), 0), static_cast<ssize_t>(query.size()));
    char buffer[2048];
    ssize_t count = -1;
    EXPECT_TRUE(run_until(loop, [&] {
        return (count = ::recv(client.get(), buffer, sizeof buffer, 0)) >= 0;
    })) << server;
    return std::string(buffer, count > 0 ? static_cast<size_t>(count) : 0);
}

TEST(NameServer, AnswersFromTheAddressThatWasAsked) {
    in_a_network_of_its_own([] {
        World world;
        world.names.listen(bound_socket(SOCK_DGRAM, "0.0.0.0", 53));
        world.names.listen(bound_socket(SOCK_DGRAM, "::", 53));
        wire::DnsQuestion question{.name = *wire::DnsName::from_host_name("www.example.org"),
                                   .type = DnsType::a};
        for (const char* server : {"198.18.0.1", "8.8.8.8", "fd61:6765:6e74::1", "2001:4860:4860::8888"}) {
            std::string reply = exchange(world.context.loop, server, wire::write_dns_query(11, question));
            wire::DnsReply read = wire::parse_dns_reply(reply, 11, question);
            ASSERT_EQ(read.ipv4.size(), 1u) << server;
            EXPECT_EQ(Address::from_v4(read.ipv4.front()).str(), "198.18.1.0");
        }
    });
}

TEST(NameServer, TheSecondOneEndsWhatTheFirstRefuses) {
    in_a_network_of_its_own([] {
        World world(proxied({"good.example.org"}));
        world.names.listen(bound_socket(SOCK_DGRAM, "0.0.0.0", 53));
        wire::DnsQuestion question{.name = *wire::DnsName::from_host_name("evil.example.org"),
                                   .type = DnsType::a};
        std::string query = wire::write_dns_query(11, question);
        std::string first = exchange(world.context.loop, "198.18.0.1", query);
        std::string second = exchange(world.context.loop, "198.18.0.4", query);
        EXPECT_EQ(wire::parse_dns_reply(first, 11, question).code, wire::DnsCode::refused);
        EXPECT_EQ(wire::parse_dns_reply(second, 11, question).code, wire::DnsCode::no_such_name);
        EXPECT_EQ(first.substr(4), second.substr(4)) << "the reason is the same";
        EXPECT_TRUE(world.server.asked().empty()) << "nothing left the host";
        question.name = *wire::DnsName::from_host_name("good.example.org");
        second = exchange(world.context.loop, "198.18.0.4", wire::write_dns_query(12, question));
        EXPECT_EQ(wire::parse_dns_reply(second, 12, question).ipv4.size(), 1u);
    });
}

TEST(NameServer, CutsWhatIsTooLargeForTheAsker) {
    in_a_network_of_its_own([] {
        Egress egress;
        egress.passed_types = {static_cast<uint16_t>(DnsType::txt)};
        World world(egress, [](const DnsQuery& query, bool) -> Messages {
            std::string answer = wire::answer_no_data(query);
            answer[7] = 1;  // one record
            std::string record;
            wire::append_u16(record, 0xc00c);
            wire::append_u16(record, 16);
            wire::append_u16(record, 1);
            wire::append_u32(record, 60);
            wire::append_u16(record, 900);
            answer.insert(wire::kDnsHeader + query.question->name.wire().size() + 4,
                          record + std::string(900, 'x'));
            return {answer};
        });
        world.names.listen(bound_socket(SOCK_DGRAM, "0.0.0.0", 53));
        wire::DnsQuestion question{.name = *wire::DnsName::from_host_name("www.example.org"),
                                   .type = DnsType::txt};
        std::string whole = exchange(world.context.loop, "198.18.0.1", wire::write_dns_query(11, question));
        EXPECT_GT(whole.size(), 900u);
        std::string small =
            exchange(world.context.loop, "198.18.0.1", wire::write_dns_query(11, question, false));
        EXPECT_LE(small.size(), 512u);
        EXPECT_EQ(wire::parse_dns_reply(small, 11, question).kind, wire::DnsReply::Kind::truncated);
    });
}

// Threat: a lookup of a host that the user has not allowed already carries data to that host's resolver.
TEST(NameServer, LooksNothingUpThatTheUserIsAskedAbout) {
    Egress egress = proxied({"good.example.org"});
    egress.rules.is_asking = true;
    egress.passed_types = {static_cast<uint16_t>(DnsType::mx)};
    World world(egress);
    EXPECT_EQ(world.ask("secret.example.org").address(), "198.18.1.0");
    EXPECT_EQ(world.ask("secret.example.org", DnsType::aaaa).address(), "fd61:6765:6e74::100");
    for (DnsType type : {DnsType::mx, DnsType::https, DnsType::txt})
        EXPECT_TRUE(world.ask("secret.example.org", type).is_empty());
    EXPECT_TRUE(world.server.asked().empty());
    EXPECT_EQ(world.ask("good.example.org").address(), "198.18.1.1");
    EXPECT_FALSE(world.server.asked().empty()) << "the control";
}

}  // namespace
}  // namespace network::gateway
