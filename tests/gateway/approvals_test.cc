// SPDX-License-Identifier: MIT
// Threat: a jail that may cause questions to the user could misuse them: send data out by a lookup, tire the
// user with questions, or exhaust the gateway.
#include "network/gateway/control/approvals.h"

#include <gtest/gtest.h>

#include "tcp_world.h"

namespace network::gateway {
namespace {

using policy::NetworkMode;

Egress asking(std::chrono::seconds time = std::chrono::seconds(120)) {
    Egress egress;
    egress.rules.mode = NetworkMode::proxied;
    egress.rules.is_asking = true;
    egress.ask_time = time;
    return egress;
}

EngineSettings allowing(std::initializer_list<const char*> entries) {
    EngineSettings settings = asking().rules;
    settings.allow = items(entries);
    return settings;
}

class ApprovalsTest : public ::testing::Test {
  protected:
    explicit ApprovalsTest(Egress egress = asking()) : world(std::move(egress)) {}

    Peer request(std::string_view name, uint16_t port = 80) {
        Peer client = world.connect(world.inside(name, port));
        client.send(get(name));
        world.turn();
        return client;
    }
    std::vector<Approvals::Pending> pending() { return world.context().approvals.pending(); }
    static bool is_silent(Peer& client) {
        client.poll();
        return client.received.empty() && !client.has_ended && !client.was_reset;
    }

    TcpWorld world;
};

TEST_F(ApprovalsTest, HoldsAConnectionUntilARuleOpensIt) {
    Peer client = request("example.org");
    EXPECT_TRUE(is_silent(client));
    EXPECT_TRUE(world.dialled().empty());
    ASSERT_EQ(pending().size(), 1u);
    EXPECT_EQ(pending()[0].what.name.str(), "example.org");
    EXPECT_EQ(pending()[0].what.port, 80);

    EXPECT_EQ(*world.renew(allowing({"example.org:80"})), 0u);
    Peer server = world.accept();
    EXPECT_TRUE(world.hears(server, "GET /"));
    server.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi");
    EXPECT_TRUE(world.hears(client, "hi"));
    EXPECT_TRUE(pending().empty());

    ASSERT_EQ(world.records("ask").size(), 1u);
    EXPECT_EQ(world.records("ask")[0].text("name"), "example.org");
    ASSERT_EQ(world.records("answer").size(), 1u);
    EXPECT_EQ(world.records("answer")[0].text("verdict"), "allow");
    EXPECT_EQ(world.records("answer")[0].number("id"), world.records("ask")[0].number("id"));
}

TEST_F(ApprovalsTest, ShowsTheQuestionAsState) {
    Peer client = request("example.org");
    base::Json state = world.state();
    ASSERT_EQ(state.items("pending").size(), 1u);
    const base::Json& shown = state.items("pending")[0];
    EXPECT_EQ(shown.number("id"), 1);
    EXPECT_EQ(shown.text("name"), "example.org");
    EXPECT_EQ(shown.number("port"), 80);
    EXPECT_GE(shown.number("age_ms", -1), 0);
    EXPECT_GT(shown.number("left_ms"), 100'000);
    EXPECT_LE(shown.number("left_ms"), 120'000);
}

TEST_F(ApprovalsTest, IsOneQuestionForAllWhoWantTheSame) {
    Peer first = request("example.org"), second = request("example.org");
    Peer third = request("example.org", 8080), fourth = request("other.example");
    EXPECT_EQ(pending().size(), 3u);
    EXPECT_EQ(world.records("ask").size(), 3u);
    world.context().approvals.deny(pending()[0].id, "not this one");
    for (Peer* client : {&first, &second}) {
        EXPECT_TRUE(world.hears(*client, "the user denied it: not this one"));
        EXPECT_TRUE(client->received.starts_with("HTTP/1.1 403"));
    }
    EXPECT_TRUE(is_silent(third));
    EXPECT_TRUE(is_silent(fourth));
    EXPECT_TRUE(world.dialled().empty());
}

TEST_F(ApprovalsTest, ADenialHoldsForTheRestOfTheSession) {
    Peer first = request("example.org");
    world.context().approvals.deny(1, "no");
    EXPECT_TRUE(world.hears(first, "403"));
    Peer second = request("example.org");
    EXPECT_TRUE(world.hears(second, "the user denied it: no"));
    EXPECT_TRUE(pending().empty());
    base::Json answer = world.records("answer").at(0);
    EXPECT_EQ(answer.text("verdict"), "deny");
    EXPECT_EQ(answer.text("reason"), "no");
    EXPECT_EQ(world.records("connection").at(1).text("cause"), "ask");
    // A rule that the user writes later replaces the answer.
    ASSERT_TRUE(world.renew(allowing({"example.org"})));
    Peer third = request("example.org");
    Peer server = world.accept();
    EXPECT_TRUE(world.hears(server, "GET /"));
}

TEST_F(ApprovalsTest, AProxysClientWaitsToo) {
    Peer client = world.connect(TcpWorld::gateway());
    client.send("CONNECT example.org:443 HTTP/1.1\r\nHost: example.org:443\r\n\r\n");
    world.turn();
    EXPECT_TRUE(is_silent(client));
    EXPECT_EQ(pending().size(), 1u);
    Peer other = world.connect(TcpWorld::gateway());
    other.send("CONNECT other.example:443 HTTP/1.1\r\nHost: other.example:443\r\n\r\n");
    world.turn();
    world.context().approvals.deny(2, "no");
    EXPECT_TRUE(world.hears(other, "the user denied it: no"));
    ASSERT_TRUE(world.renew(allowing({"example.org"})));
    EXPECT_TRUE(world.hears(client, "200 Connection established"));
}

TEST_F(ApprovalsTest, ARuleThatClosesIsAnAnswerToo) {
    Peer client = request("example.org");
    EngineSettings settings = asking().rules;
    settings.block = items({"example.org"});
    ASSERT_TRUE(world.renew(settings));
    EXPECT_TRUE(world.hears(client, "network.block closes it"));
    EXPECT_EQ(world.records("answer").at(0).text("verdict"), "deny");
}

TEST_F(ApprovalsTest, RulesAboutSomethingElseLeaveItWaiting) {
    Peer client = request("example.org");
    EXPECT_EQ(*world.renew(allowing({"other.example", "example.org:8080"})), 0u);
    world.turn();
    EXPECT_TRUE(is_silent(client));
    EXPECT_EQ(pending().size(), 1u);
    EXPECT_EQ(world.records("ask").size(), 1u);
}

TEST_F(ApprovalsTest, WhoLeavesTakesItsPlaceWithIt) {
    Peer first = request("example.org"), second = request("example.org");
    first.close();
    EXPECT_TRUE(world.until([&] { return world.context().approvals.held() == 1; }));
    EXPECT_EQ(pending().size(), 1u);
    second.reset();
    EXPECT_TRUE(world.until([&] { return pending().empty(); }));
    EXPECT_EQ(world.context().approvals.held(), 0u);
    EXPECT_EQ(world.records("answer").size(), 1u);
    EXPECT_TRUE(world.is_empty());
    world.context().approvals.deny(1, "too late");
    EXPECT_FALSE(world.context().approvals.denial_of({*HostName::parse("example.org"), 80}));
}

// Rules that no longer allow a host close the connections to it.
TEST_F(ApprovalsTest, WhatIsAQuestionAgainIsClosed) {
    ASSERT_TRUE(world.renew(allowing({"example.org"})));
    Peer client = request("example.org");
    Peer server = world.accept();
    EXPECT_TRUE(world.hears(server, "GET /"));
    EXPECT_EQ(*world.renew(allowing({})), 1u);
    EXPECT_TRUE(world.is_reset(client));
}

TEST_F(ApprovalsTest, AddressesAreNotAskedAbout) {
    Peer client = world.connect(TcpWorld::literal("192.0.2.1", 80));
    client.send(get("192.0.2.1"));
    EXPECT_TRUE(world.hears(client, "403 Forbidden"));
    EXPECT_TRUE(pending().empty());
}

TEST_F(ApprovalsTest, TheListAndTheQueueHaveAnEnd) {
    std::vector<Peer> clients;
    for (size_t i = 0; i < Approvals::kMost; ++i)
        clients.push_back(world.connect(world.inside("h" + std::to_string(i) + ".example", 80)));
    Peer beyond = request("beyond.example");
    EXPECT_TRUE(world.hears(beyond, "64 hosts wait for the user's answer already"));
    while (clients.size() < Approvals::kMostHeld)
        clients.push_back(world.connect(world.inside("h0.example", 80)));
    EXPECT_EQ(world.context().approvals.held(), Approvals::kMostHeld);
    Peer more = request("h0.example");
    EXPECT_TRUE(world.hears(more, "1024 connections wait for the user's answer already"));
    EXPECT_EQ(pending().size(), Approvals::kMost);
}

// Questions about requests, without a connection.
class AskedRequestTest : public ApprovalsTest {
  protected:
    static AskedAbout about(const std::string& request) {
        return {.name = *HostName::parse("example.org"),
                .port = 443,
                .request = AskedRequest{.key = request, .method = "POST", .path = "/" + request}};
    }
    Approvals::Ticket ask(const std::string& request) {
        return approvals().hold(about(request), [this, request](const std::optional<Verdict>& refusal) {
            answers.push_back(request + ": " + (refusal ? refusal->reason : "yes"));
        });
    }
    Approvals& approvals() { return world.context().approvals; }

    std::vector<std::string> answers;
};

TEST_F(AskedRequestTest, AnApprovalCoversThisRequestForTheSession) {
    ask("one"), ask("one"), ask("two");
    ASSERT_EQ(pending().size(), 2u);
    approvals().approve(1, false);
    EXPECT_EQ(answers, (std::vector<std::string>{"one: yes", "one: yes"}));
    EXPECT_TRUE(approvals().is_approved(about("one")));
    EXPECT_FALSE(approvals().is_approved(about("two")));
    AskedAbout elsewhere = about("one");
    elsewhere.name = *HostName::parse("other.example");
    EXPECT_FALSE(approvals().is_approved(elsewhere));
    elsewhere = about("one");
    elsewhere.port = 8443;
    EXPECT_FALSE(approvals().is_approved(elsewhere));
}

TEST_F(AskedRequestTest, OnceIsOneRequestHoweverManyWait) {
    ask("one");
    Approvals::Ticket second = ask("one"), third = ask("one");
    approvals().approve(1, true);
    EXPECT_EQ(answers, (std::vector<std::string>{"one: yes"}));
    EXPECT_FALSE(approvals().is_approved(about("one")));
    ASSERT_EQ(pending().size(), 1u);
    EXPECT_EQ(pending()[0].id, 2u) << "the answer to the first question says nothing about the second";
    approvals().approve(1, true);
    EXPECT_EQ(answers.size(), 1u);
    EXPECT_EQ(approvals().held(), 2u);
    approvals().cancel(second);
    approvals().approve(2, true);
    EXPECT_EQ(answers.size(), 2u);
    EXPECT_TRUE(pending().empty());
    approvals().cancel(third);
}

TEST_F(AskedRequestTest, ADenialSaysNothingAboutTheHostAndOtherRequests) {
    ask("one");
    approvals().deny(1, "not this one");
    EXPECT_EQ(answers, (std::vector<std::string>{"one: the user denied it: not this one"}));
    EXPECT_TRUE(approvals().obstacle_to(about("one")));
    EXPECT_FALSE(approvals().obstacle_to(about("two")));
    EXPECT_FALSE(approvals().obstacle_to({*HostName::parse("example.org"), 443}));
}

TEST_F(AskedRequestTest, RulesAboutTheHostAreNoAnswer) {
    ask("one");
    ASSERT_TRUE(world.renew(allowing({"example.org"})));
    EXPECT_TRUE(answers.empty());
    EXPECT_EQ(pending().size(), 1u);
}

TEST_F(AskedRequestTest, AHostIsNotApprovedByItsNumber) {
    Peer client = request("example.org");
    approvals().approve(1, false);
    world.turn();
    EXPECT_TRUE(is_silent(client));
    EXPECT_EQ(pending().size(), 1u);
}

TEST_F(AskedRequestTest, LongOnesDoNotMakeTheStateTooLargeForItsSocket) {
    for (size_t i = 0; i < Approvals::kMost; ++i) ask(std::to_string(i) + std::string(1000, '"'));
    base::Json state = world.state();
    EXPECT_LT(state.dump(-1).size(), 60'000u);
    ASSERT_GE(state.items("pending").size(), 10u);
    EXPECT_EQ(state.items("pending")[0].number("id"), 1) << "the oldest can be answered";
}

TEST_F(AskedRequestTest, IsShownAndRecorded) {
    AskedAbout what = about("one");
    what.request->detail = "mutation addComment";
    what.request->credential = "tracker";
    what.request->recorded_path = "/one";
    approvals().hold(what, [](const std::optional<Verdict>&) {});
    base::Json shown = world.state().items("pending")[0];
    EXPECT_EQ(shown.text("method") + shown.text("path"), "POST/one");
    EXPECT_EQ(shown.text("detail"), "mutation addComment");
    EXPECT_EQ(shown.text("credential"), "tracker");
    EXPECT_EQ(world.records("ask").at(0).text("path"), "/one");
    approvals().approve(1, true);
    EXPECT_EQ(world.records("answer").at(0).text("reason"), "once");
    EXPECT_EQ(world.records("answer").at(0).text("method"), "POST");
}

class BriefApprovalsTest : public ApprovalsTest {
  protected:
    BriefApprovalsTest() : ApprovalsTest(asking(std::chrono::seconds(1))) {}
};

TEST_F(BriefApprovalsTest, NobodyAnswers) {
    Peer client = request("example.org");
    EXPECT_TRUE(world.hears(client, "no answer came within 1s"));
    EXPECT_TRUE(world.hears(client, "agent-sandbox pending"));
    EXPECT_TRUE(pending().empty());
    EXPECT_EQ(world.records("answer").at(0).text("reason"), "no answer came within 1s");
    Peer again = request("example.org");
    EXPECT_TRUE(is_silent(again));
    EXPECT_EQ(pending().size(), 1u);
    EXPECT_EQ(pending()[0].id, 2u);
}

TEST(ObservedConnection, PassesAndIsRecordedAsSuch) {
    Egress egress;
    egress.rules.mode = NetworkMode::proxied;
    egress.rules.is_observing = true;
    TcpWorld world(egress);
    Peer client = world.connect(world.inside("example.org", 80));
    client.send(get("example.org"));
    Peer server = world.accept();
    EXPECT_TRUE(world.hears(server, "GET /"));
    client.close();
    server.close();
    EXPECT_TRUE(world.is_empty());
    base::Json line = world.records("connection").at(0);
    EXPECT_EQ(line.text("verdict"), "observed");
    EXPECT_EQ(line.text("cause"), "mode");
    EXPECT_EQ(line.text("change"), "--allow-host example.org");
    Peer mail = world.connect(world.inside("example.org", 25));
    EXPECT_TRUE(world.hears(mail, "agent-sandbox"));
    EXPECT_EQ(world.journal().refusals().total, 1u);
}

}  // namespace
}  // namespace network::gateway
