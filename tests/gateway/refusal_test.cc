// SPDX-License-Identifier: MIT
#include "network/gateway/connections/refusal.h"

#include <gtest/gtest.h>

#include "tcp_world.h"

namespace network::gateway {
namespace {

using std::chrono::milliseconds;

void expect_at_once(milliseconds limit, const std::function<void()>& act) {
    expect_within(limit, [&] {
        auto start = base::EventLoop::Clock::now();
        act();
        return base::EventLoop::Clock::now() - start;
    });
}

constexpr milliseconds kAtOnce{50};

TEST(RefusalText, SaysWhatWhyAndWhatToDo) {
    Verdict verdict{.rule = "pastebin.com",
                    .origin = config::from_flag("--block"),
                    .reason = "a public paste",
                    .advice = "ask for it"};
    std::string text = refusal_text(verdict, "pastebin.com:443");
    for (const char* part : {"pastebin.com:443", "a public paste", "rule \"pastebin.com\"", "--block",
                             "policy, not a fault", "do not retry", "ask for it"}) {
        EXPECT_NE(text.find(part), std::string::npos) << part << " in " << text;
    }
}

struct RefusalTest : testing::Test {
    TcpWorld world{{.rules = {.block = items({"blocked.example"})}}};
    Peer refused(uint16_t port) { return world.connect(world.inside("blocked.example", port)); }
};

TEST_F(RefusalTest, AnswersMailInItsOwnWords) {
    for (uint16_t port : std::initializer_list<uint16_t>{24, 25, 587, 2525}) {
        auto connect = [&] { return world.connect(world.inside("example.org", port)); };
        Peer client = connect();
        expect_at_once(kAtOnce, [&] { EXPECT_TRUE(world.hears(client = connect(), "554")); });
        client.received.clear();
        client.send("EHLO here\r\n");
        EXPECT_TRUE(world.hears(client, "554"));
        client.send("QUIT\r\n");
        EXPECT_TRUE(world.hears(client, "221"));
        EXPECT_TRUE(world.is_ended(client));
    }
    EXPECT_TRUE(world.dialled().empty());
}

TEST_F(RefusalTest, AnswersSshAtOnce) {
    expect_at_once(kAtOnce, [&] {
        Peer client = refused(22);
        EXPECT_TRUE(world.hears(client, "policy, not a fault"));
        EXPECT_TRUE(client.received.starts_with("SSH-2.0-"));
    });
}

TEST_F(RefusalTest, AnswersHttpWithTheRule) {
    expect_at_once(kAtOnce, [&] {
        Peer client = refused(80);
        client.send(get("blocked.example"));
        EXPECT_TRUE(world.is_ended(client));
        EXPECT_TRUE(client.received.starts_with("HTTP/1.1 403 "));
        EXPECT_NE(client.received.find("\"rule\":\"blocked.example\""), std::string::npos) << client.received;
    });
    Peer head = refused(8080);
    head.send("HEAD / HTTP/1.1\r\nHost: blocked.example\r\n\r\n");
    EXPECT_TRUE(world.is_ended(head));
    EXPECT_TRUE(head.received.ends_with("\r\n\r\n"));
}

TEST_F(RefusalTest, AnswersTlsWithAnAlert) {
    expect_at_once(kAtOnce, [&] {
        Peer client = refused(443);
        client.send(client_hello("blocked.example"));
        EXPECT_TRUE(world.is_ended(client));
        EXPECT_EQ(client.received, wire::tls_alert(wire::TlsAlert::access_denied));
    });
}

// A client that loses the processor between connect(2) and send(2) sends late.
TEST_F(RefusalTest, AnswersLateFirstBytes) {
    constexpr milliseconds kLate{200};
    std::string answer;
    // A pause of the machine may exceed the gateway's patience.
    for (int tries = 0; tries < 5 && answer.empty(); ++tries) {
        Peer client = refused(80);
        bool is_late = false;
        world.loop().after(kLate, [&] { is_late = true; });
        EXPECT_TRUE(world.until([&] { return is_late; }));
        client.send(get("blocked.example"));
        (void)world.is_ended(client);
        answer = client.received;
    }
    EXPECT_TRUE(answer.starts_with("HTTP/1.1 403 ")) << answer;
}

TEST_F(RefusalTest, ResetsTheSilentInTheEnd) {
    Peer silent = refused(5432);
    EXPECT_TRUE(world.is_reset(silent));
    EXPECT_TRUE(world.is_empty());
}

TEST_F(RefusalTest, ResetsTheUnknownSoon) {
    // If the client has sent bytes, the gateway does not wait for more.
    constexpr milliseconds kSooner{20};
    expect_at_once(kSooner, [&] {
        Peer unknown = refused(5432);
        unknown.send(std::string_view("\0\0\0\x08\x04\xd2\x16\x2f", 8));
        EXPECT_TRUE(world.is_reset(unknown));
    });
}

// Closing a socket with unread bytes sends a reset, and the client would lose the answer.
TEST_F(RefusalTest, IsReadByAClientThatKeepsSending) {
    Peer client = refused(80);
    std::string upload = "POST / HTTP/1.1\r\nHost: blocked.example\r\nContent-Length: 300000\r\n\r\n" +
                         std::string(300000, 'x');
    size_t sent = 0;
    EXPECT_TRUE(world.until([&] {
        sent += client.send(std::string_view(upload).substr(sent));
        return sent == upload.size();
    }));
    EXPECT_TRUE(world.is_ended(client));
    EXPECT_TRUE(client.received.starts_with("HTTP/1.1 403 "));
}

TEST_F(RefusalTest, EndsWithTheClientOrAfterAMoment) {
    Peer client = refused(80);
    client.send(get("blocked.example"));
    EXPECT_TRUE(world.is_ended(client));
    EXPECT_EQ(world.acceptor().connections(), 1u);
    client.close();
    EXPECT_TRUE(world.is_empty());
    Peer stays = refused(80);
    stays.send(get("blocked.example"));
    EXPECT_TRUE(world.is_empty());
    EXPECT_EQ(world.journal().refusals().total, 2u);
}

}  // namespace
}  // namespace network::gateway
