// SPDX-License-Identifier: MIT
// Which connections are read, and how values are requested and kept (network/gateway/broker/broker.h).
#include "network/gateway/broker/broker.h"

#include <gtest/gtest.h>

#include <ctime>

namespace network::gateway {
namespace {

exchange::Binding binding(const std::string& name, const std::vector<std::string>& hosts) {
    exchange::Binding made{.name = name, .placeholder = "tok_placeholder_of_" + name};
    for (const std::string& host : hosts) made.hosts.push_back(*requests::parse_host_pattern(host));
    made.puts = *exchange::parse_puts("bearer");
    return made;
}

struct Bench {
    explicit Bench(exchange::BrokerSpec spec, bool intercepts = true) {
        BrokerInputs inputs{.spec = std::move(spec), .intermediate = {}, .roots = {}};
        base::Result<requests::RequestRules> rules = requests::RequestRules::make(inputs.spec.requests);
        if (intercepts) {
            root = *tls::SessionRoot::make(now);
            inputs.intermediate = *root->issue(inputs.spec.certificate_names(*rules), now);
        }
        inputs.clock = [this] { return now; };
        broker = *Broker::make(std::move(inputs));
        EXPECT_TRUE(loop.open());
        broker->start(
            loop, [this](size_t number, bool) { asked.push_back(number); },
            [this](const std::string& text) { told.push_back(text); });
    }
    std::optional<Broker::Way> way(std::string_view name, uint16_t port) const {
        return broker->way_to(*HostName::parse(name), port);
    }

    base::EventLoop loop;
    std::time_t now = std::time(nullptr);
    std::optional<tls::SessionRoot> root;
    std::unique_ptr<Broker> broker;
    std::vector<size_t> asked;
    std::vector<std::string> told;
};

base::SecretValue value(std::string text) {
    return *base::SecretValue::make(std::move(text));
}

exchange::BrokerSpec two() {
    exchange::BrokerSpec spec;
    spec.bindings.push_back(binding("one", {"api.example.org", "git.example.org:8443"}));
    spec.bindings.push_back(binding("two", {"*.two.example.org"}));
    spec.requests.block.push_back({"DELETE ruled.example.org/**", {}});
    spec.requests.opaque.push_back({"shown.two.example.org", {}});
    return spec;
}

TEST(Broker, ReadsTheHostsOfCredentialsAndRulesAtTheirUsualPortsAlone) {
    Bench bench(two());
    EXPECT_TRUE(bench.way("api.example.org", 443));
    EXPECT_TRUE(bench.way("api.example.org", 80));
    EXPECT_TRUE(bench.way("git.example.org", 8443));
    EXPECT_TRUE(bench.way("a.two.example.org", 443));
    EXPECT_TRUE(bench.way("ruled.example.org", 443));
    EXPECT_FALSE(bench.way("api.example.org", 22));
    EXPECT_FALSE(bench.way("git.example.org", 443));
    EXPECT_FALSE(bench.way("two.example.org", 443));
    EXPECT_FALSE(bench.way("shown.two.example.org", 443));
    EXPECT_FALSE(bench.way("other.example.org", 443));
}

TEST(Broker, KnowsItsNamesAtEveryPort) {
    Bench bench(two());
    EXPECT_TRUE(bench.broker->names(*HostName::parse("api.example.org")));
    EXPECT_TRUE(bench.broker->names(*HostName::parse("git.example.org")));
    EXPECT_FALSE(bench.broker->names(*HostName::parse("shown.two.example.org")));
    EXPECT_FALSE(bench.broker->names(*HostName::parse("other.example.org")));
}

TEST(Broker, WithoutInterceptionOnlyTheSessionsOwnNamesLeadToHosts) {
    Bench bench(two(), false);
    EXPECT_FALSE(bench.way("api.example.org", 443));
    std::optional<Broker::Way> way = bench.way("one.credential.agent-sandbox.internal", 80);
    ASSERT_TRUE(way);
    EXPECT_TRUE(way->is_endpoint);
    EXPECT_EQ(way->server.str(), "api.example.org");
    EXPECT_EQ(way->port, 443);
    EXPECT_FALSE(bench.way("one.credential.agent-sandbox.internal", 443));
    // A wildcard names no single host.
    EXPECT_FALSE(bench.way("two.credential.agent-sandbox.internal", 80));
}

TEST(Broker, RequestsAValueOnceForAllThatWaitForIt) {
    Bench bench(two());
    auto alive = std::make_shared<char>();
    std::vector<std::string> heard;
    auto hear = [&](const std::string& failure) { heard.push_back(failure.empty() ? "value" : failure); };
    bench.broker->need({0}, alive, hear);
    bench.broker->need({0}, alive, hear);
    {
        auto gone = std::make_shared<char>();
        bench.broker->need({0}, gone, hear);
    }
    EXPECT_EQ(bench.asked, std::vector<size_t>{0});
    EXPECT_TRUE(heard.empty());
    bench.broker->take_value(0, value("a real value"), {});
    EXPECT_EQ(heard, (std::vector<std::string>{"value", "value"}));
    EXPECT_TRUE(bench.broker->value(0).equals("a real value"));
    EXPECT_TRUE(bench.broker->forms());
    bench.broker->need({0}, alive, hear);
    EXPECT_EQ(bench.asked.size(), 1u);
}

TEST(Broker, DoesNotRequestAFailedValueAgainAtOnce) {
    Bench bench(two());
    auto alive = std::make_shared<char>();
    std::vector<std::string> heard;
    auto hear = [&](const std::string& failure) { heard.push_back(failure); };
    bench.broker->need({0, 1}, alive, hear);
    EXPECT_EQ(bench.asked, (std::vector<size_t>{0, 1}));
    bench.broker->take_value(1, base::Error{.what = "the file is missing"}, {});
    ASSERT_EQ(heard.size(), 1u);
    EXPECT_NE(heard[0].find("'two' has no value: the file is missing"), std::string::npos) << heard[0];
    bench.broker->need({1}, alive, hear);
    EXPECT_EQ(heard.size(), 2u);
    EXPECT_EQ(bench.asked.size(), 2u);
    EXPECT_FALSE(bench.broker->forms());
}

TEST(Broker, RequestsValuesAgainThatWereForgotten) {
    Bench bench(two());
    auto alive = std::make_shared<char>();
    bench.broker->need({0}, alive, [](const std::string&) {});
    bench.broker->take_value(0, value("a real value"), {});
    bench.broker->forget_values();
    EXPECT_TRUE(bench.broker->value(0).is_empty());
    bench.broker->need({0}, alive, [](const std::string&) {});
    EXPECT_EQ(bench.asked.size(), 2u);
}

std::string shown(const Broker& broker, std::string_view text) {
    return exchange::Redactor(broker.forms().get()).redacted(text);
}

// Threat: a server shows a value that it got before the value was replaced or dropped.
TEST(Broker, SearchesAnswersForEarlierValues) {
    Bench bench(two());
    bench.broker->take_value(0, value("first value"), {});
    bench.broker->forget_values();
    EXPECT_EQ(shown(*bench.broker, "first value"), "***********") << "after a reload";
    bench.broker->take_value(0, value("other value"), {});
    bench.broker->take_value(0, value("third value"), {});
    EXPECT_EQ(shown(*bench.broker, "first value, other value, third value"),
              "***********, ***********, ***********");
    bench.broker->take_value(0, base::Error{.what = "the file is missing"}, {});
    EXPECT_EQ(shown(*bench.broker, "third value"), "***********");
    for (size_t i = 0; i < Broker::kMostEarlier; ++i)
        bench.broker->take_value(0, value("number " + std::to_string(100 + i)), {});
    EXPECT_EQ(shown(*bench.broker, "first value, number 100"), "first value, **********") << "bounded";
    for (size_t i = 0; i < 2 * Broker::kMostEarlier; ++i) {
        bench.broker->forget_values();
        bench.broker->take_value(0, value("number 115"), {});
    }
    EXPECT_EQ(shown(*bench.broker, "number 101"), "**********") << "one value counts once";
}

TEST(Broker, WipesAValueThatWasRemovedWhenNoConnectionIsOpen) {
    Bench bench(two());
    bench.broker->take_value(1, value("of the other"), {});
    bench.broker->take_value(0, value("first value"), {});
    bench.broker->forget_values();
    bench.broker->take_value(0, value("other value"), {});
    ASSERT_TRUE(bench.broker->enter());
    ASSERT_TRUE(bench.broker->enter());
    bench.broker->forget_values(0);
    EXPECT_EQ(shown(*bench.broker, "first value, other value"), "***********, ***********");
    bench.broker->leave();
    EXPECT_EQ(shown(*bench.broker, "first value, other value"), "***********, ***********");
    bench.broker->leave();
    EXPECT_EQ(shown(*bench.broker, "first value, other value"), "first value, other value");
    EXPECT_EQ(shown(*bench.broker, "of the other"), "************") << "a reload removes nothing";
    bench.broker->take_value(0, value("third value"), {});
    bench.broker->forget_values(0);
    EXPECT_EQ(shown(*bench.broker, "third value"), "third value") << "at once without a connection";
}

// Threat: a value that was removed while its source ran is used nevertheless.
TEST(Broker, DropsAValueThatWasForgottenOnItsWay) {
    Bench bench(two());
    auto alive = std::make_shared<char>();
    size_t heard = 0;
    bench.broker->need({0}, alive, [&](const std::string&) { ++heard; });
    bench.broker->forget_values();
    bench.broker->take_value(0, value("the old value"), {});
    EXPECT_TRUE(bench.broker->value(0).is_empty());
    EXPECT_EQ(heard, 0u);
    EXPECT_EQ(bench.asked, (std::vector<size_t>{0, 0}));
    bench.broker->take_value(0, value("the new value"), {});
    EXPECT_TRUE(bench.broker->value(0).equals("the new value"));
    EXPECT_EQ(heard, 1u);
}

TEST(Broker, TakesNewRulesAndNamesWhileItRuns) {
    Bench bench(two());
    std::shared_ptr<const requests::RequestRules> before = bench.broker->rules();
    requests::RequestSettings settings = two().requests;
    settings.block.push_back({"DELETE added.example.org/**", {}});
    exchange::BrokerSpec spec = two();
    spec.requests = settings;
    std::vector<std::string> names = spec.certificate_names(*requests::RequestRules::make(settings));
    ASSERT_TRUE(bench.broker->renew(settings, *bench.root->issue(names, bench.now)));
    EXPECT_TRUE(bench.way("added.example.org", 443));
    EXPECT_TRUE(bench.way("api.example.org", 443));
    EXPECT_FALSE(before->names("added.example.org", 443)) << "a request keeps the rules that judged it";
    // A mistake changes nothing.
    EXPECT_FALSE(bench.broker->renew({.block = {{"DELETE", {}}}}, std::nullopt));
    EXPECT_TRUE(bench.way("added.example.org", 443));
}

TEST(Broker, AsksForACertificateTwoDaysBeforeTheOldOneEnds) {
    constexpr std::time_t kDay = 86400;
    Bench bench(two());
    size_t asked = 0;
    bench.broker->when_certificate_ends([&] { ++asked; });
    auto first = bench.broker->toward_clients();
    ASSERT_TRUE(first);
    bench.now += 4 * kDay;
    ASSERT_TRUE(bench.broker->toward_clients());
    EXPECT_EQ(asked, 0u);
    bench.now += kDay + 1;
    ASSERT_TRUE(bench.broker->toward_clients());
    ASSERT_TRUE(bench.broker->toward_clients());
    EXPECT_EQ(asked, 1u) << "once an hour";
    bench.now += 3601;
    ASSERT_TRUE(bench.broker->toward_clients());
    EXPECT_EQ(asked, 2u);
    std::vector<std::string> names = two().certificate_names(*bench.broker->rules());
    ASSERT_TRUE(bench.broker->take_certificate(*bench.root->issue(names, bench.now)));
    auto second = bench.broker->toward_clients();
    ASSERT_TRUE(second);
    EXPECT_NE(second->get(), first->get());
    bench.now += 4 * kDay;
    ASSERT_TRUE(bench.broker->toward_clients());
    EXPECT_EQ(asked, 2u) << "the new one is valid for a week";
}

// Threat: many large bodies that rules must read fill the memory of the gateway.
TEST(Broker, BoundsTheBodiesThatRulesRead) {
    Bench bench(two());
    EXPECT_TRUE(bench.broker->hold(0, Broker::kMostHeld - 10));
    EXPECT_FALSE(bench.broker->hold(0, 11));
    EXPECT_TRUE(bench.broker->hold(0, 10));
    EXPECT_FALSE(bench.broker->hold(10, 11));
    EXPECT_TRUE(bench.broker->hold(Broker::kMostHeld - 10, 0));
    EXPECT_TRUE(bench.broker->hold(0, Broker::kMostHeld));
}

TEST(Broker, TellsEachSubjectOnceAndNotTooMany) {
    Bench bench(two());
    bench.broker->tell_once("a", "first");
    bench.broker->tell_once("a", "second");
    EXPECT_EQ(bench.told, std::vector<std::string>{"first"});
    for (size_t i = 0; i < 2 * Broker::kMostNotices; ++i) bench.broker->tell_once(std::to_string(i), "more");
    EXPECT_EQ(bench.told.size(), Broker::kMostNotices);
    bench.broker->tell_once("placeholder evil.example", "a finding");
    EXPECT_EQ(bench.told.back(), "a finding") << "findings have a quota of their own";
    for (size_t i = 0; i < 2 * Broker::kMostNotices; ++i)
        bench.broker->tell_once("placeholder " + std::to_string(i), "more");
    EXPECT_EQ(bench.told.size(), 2 * Broker::kMostNotices);
}

TEST(Broker, BoundsItsConnections) {
    Bench bench(two());
    for (size_t i = 0; i < Broker::kMostConnections; ++i) EXPECT_TRUE(bench.broker->enter());
    EXPECT_FALSE(bench.broker->enter());
    bench.broker->leave();
    EXPECT_TRUE(bench.broker->enter());
}

}  // namespace
}  // namespace network::gateway
