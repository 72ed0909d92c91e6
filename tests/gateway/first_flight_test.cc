// SPDX-License-Identifier: MIT
#include "network/gateway/first_flight.h"

#include <gtest/gtest.h>

#include "network/gateway/guard.h"
#include "tcp_world.h"

namespace network::gateway {
namespace {

Engine engine(EngineSettings settings = {}) {
    auto made = Engine::make(settings);
    EXPECT_TRUE(made.ok());
    return *made;
}

struct Outcome {
    Guard::State state;
    std::string onward;
    std::string reason;
    std::string words;
};

struct Scene {
    std::string host = "example.org";
    uint16_t port = 443;
    bool is_open_by_address = false;
    bool takes_other_names = false;
    HttpStream::Requests requests = HttpStream::Requests::many;
};

// All at once and byte by byte must come to the same.
Outcome judge(const std::string& bytes, const Scene& scene = {},
              const Engine& rules = engine({.block = items({"blocked.example"})})) {
    auto run = [&](size_t step) {
        Guard guard(Expectation{rules, *parse_host(scene.host), scene.port, scene.is_open_by_address,
                                scene.takes_other_names},
                    scene.requests);
        Outcome outcome{};
        for (size_t at = 0; at < bytes.size() && guard.state() == Guard::State::judging; at += step) {
            guard.take(std::string_view(bytes).substr(at, step), outcome.onward);
        }
        outcome.state = guard.state();
        if (outcome.state == Guard::State::refused) {
            outcome.reason = guard.objection().reason;
            outcome.words = guard.words("text");
        }
        return outcome;
    };
    Outcome whole = run(bytes.size()), pieces = run(1);
    EXPECT_EQ(whole.state, pieces.state);
    EXPECT_EQ(whole.reason, pieces.reason);
    return whole;
}

bool passes(const std::string& bytes, const Scene& scene = {}) {
    Outcome outcome = judge(bytes, scene);
    if (outcome.state != Guard::State::passed) return false;
    EXPECT_EQ(outcome.onward, bytes);
    return true;
}

std::string refused(const std::string& bytes, const Scene& scene = {}) {
    Outcome outcome = judge(bytes, scene);
    return outcome.state == Guard::State::refused ? outcome.reason : "not refused";
}

TEST(FirstFlight, PassesTheNameThatTheConnectionWasOpenedFor) {
    for (const char* name : {"example.org", "EXAMPLE.org", "example.org."})
        EXPECT_TRUE(passes(client_hello(name)));
    EXPECT_TRUE(passes(client_hello("example.org", true)));
}

TEST(FirstFlight, RefusesAnotherServerName) {
    EXPECT_NE(refused(client_hello("other.example")).find("other.example"), std::string::npos);
    EXPECT_NE(refused(client_hello("other.example", true)), "not refused");
    EXPECT_NE(refused(client_hello("www.example.org")), "not refused");
    EXPECT_EQ(judge(client_hello("other.example")).words, wire::tls_alert(wire::TlsAlert::unrecognized_name));
    EXPECT_TRUE(judge(client_hello("other.example")).onward.empty());
}

TEST(FirstFlight, WantsAServerNameUnlessTheAddressIsOpen) {
    EXPECT_NE(refused(client_hello("")), "not refused");
    EXPECT_TRUE(passes(client_hello(""), {.is_open_by_address = true}));
    EXPECT_TRUE(passes(client_hello(""), {.host = "203.0.113.1"}));
}

TEST(FirstFlight, JudgesNamesBehindALiteralAddress) {
    Scene literal{.host = "203.0.113.1"};
    EXPECT_TRUE(passes(client_hello("example.org"), literal));
    EXPECT_NE(refused(client_hello("blocked.example"), literal), "not refused");
    literal.port = 80;
    EXPECT_EQ(judge(get("203.0.113.1"), literal).onward, get("203.0.113.1"));
    EXPECT_EQ(judge(get("example.org"), literal).onward, get("example.org"));
    EXPECT_NE(refused(get("203.0.113.2"), literal), "not refused");
    EXPECT_NE(refused(get("blocked.example"), literal), "not refused");
}

TEST(FirstFlight, RefusesAMalformedHello) {
    std::string hello = client_hello("example.org");
    hello[2] = 9;
    EXPECT_EQ(judge(hello).words, wire::tls_alert(wire::TlsAlert::decode_error));
    std::string doubled = client_hello("example.org");
    doubled[5] = 2;  // no client's hello
    EXPECT_NE(refused(doubled), "not refused");
}

TEST(FirstFlight, PassesProtocolsThatNameNoHost) {
    EXPECT_TRUE(passes("SSH-2.0-OpenSSH_9.2\r\n"));
    EXPECT_TRUE(passes(std::string("\0\0\0\x08\x04\xd2\x16\x2f", 8)));
    EXPECT_TRUE(passes("EHLO here\r\n"));
    EXPECT_TRUE(passes("*1\r\n$4\r\nPING\r\n"));
    EXPECT_TRUE(passes("{\"id\": 1}\n"));
}

TEST(FirstFlight, PassesTheRestOfAClientThatEndsBeforeItIsUnderstood) {
    Engine rules = engine();
    Guard guard(Expectation{rules, *parse_host("example.org"), 7}, HttpStream::Requests::many);
    std::string onward;
    EXPECT_EQ(guard.take("hello there\r", onward), Guard::State::judging);
    EXPECT_TRUE(guard.is_holding());
    EXPECT_EQ(onward, "");
    EXPECT_EQ(guard.take_end(onward), Guard::State::passed);
    EXPECT_EQ(onward, "hello there\r");
}

// Of these, each is all that the client says before the server answers.
TEST(FirstFlight, LetsAWordWithoutAnEndGoOn) {
    Engine rules = engine();
    for (std::string_view word :
         {std::string_view("ruok"), std::string_view("JDWP-Handshake"), std::string_view("hello there"),
          std::string_view("0018git-upload-pack /a\0h\0", 26)}) {
        Guard guard(Expectation{rules, *parse_host("example.org"), 7}, HttpStream::Requests::many);
        std::string onward;
        EXPECT_EQ(guard.take(word, onward), Guard::State::judging);
        EXPECT_EQ(onward, word);
        EXPECT_FALSE(guard.is_holding()) << "it may stay silent as long as it likes";
        EXPECT_EQ(guard.take_end(onward), Guard::State::passed);
        EXPECT_EQ(onward, word) << "and nothing of it twice";
    }
}

TEST(FirstFlight, JudgesARequestWhoseBeginningWentOn) {
    Engine rules = engine();
    Expectation expected{rules, *parse_host("example.org"), 80};
    Guard honest(expected, HttpStream::Requests::many);
    std::string onward;
    honest.take("GET /a", onward);
    EXPECT_EQ(onward, "GET /a");
    honest.take("b HTTP/1.1\r\nHost: exam", onward);
    EXPECT_EQ(onward, "GET /a") << "behind the first line's end nothing goes on unjudged";
    honest.take("ple.org\r\n\r\nGET /c HTTP/1.1\r\nHost: example.org\r\n\r\n", onward);
    EXPECT_EQ(onward,
              "GET /ab HTTP/1.1\r\nHost: example.org\r\n\r\n"
              "GET /c HTTP/1.1\r\nHost: example.org\r\n\r\n");

    Guard other(expected, HttpStream::Requests::many);
    onward.clear();
    other.take("GET /a", onward);
    EXPECT_EQ(other.take(" HTTP/1.1\r\nHost: other.example\r\n\r\n", onward), Guard::State::refused);
    EXPECT_EQ(onward, "GET /a");
}

TEST(FirstFlight, HoldsALineThatEndsWithACarriageReturnAloneAndATargetThatIsRewritten) {
    Engine rules = engine();
    for (std::string_view held : {"/ HTTP/1.1\rHost: other.example\r\r", "Http://other.example/"}) {
        Guard guard(Expectation{rules, *parse_host("example.org"), 80}, HttpStream::Requests::many);
        std::string onward;
        guard.take("GET ", onward);
        guard.take(held, onward);
        EXPECT_EQ(onward, "GET ");
        EXPECT_TRUE(guard.is_holding());
    }
}

TEST(FirstFlight, RefusesHttp2InClear) {
    EXPECT_NE(refused("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").find("HTTP/2"), std::string::npos);
}

// What a lenient server would take for a request must not pass as something else.
TEST(FirstFlight, TakesAllThatLooksLikeHttpForHttp) {
    Scene scene{.port = 80};
    for (const char* start :
         {"\r\nGET / HTTP/1.1\r\n", "\n\nGET / HTTP/1.1\r\n", " GET / HTTP/1.1\r\n", "GET\t/ HTTP/1.1\r\n",
          "G!T / HTTP/1.1\r\n", "GET / http/1.1\r\n", "GET  /  HTTP/1.1 \r\n", "\r\n\tGET\v/ HTTP/1.1\n"}) {
        EXPECT_NE(refused(start + std::string("Host: other.example\r\n\r\n"), scene), "not refused") << start;
    }
    std::string long_method = std::string(100, 'A') + " / HTTP/1.1\r\nHost: other.example\r\n\r\n";
    EXPECT_NE(refused(long_method, scene), "not refused");
}

TEST(HttpStream, PassesEachRequestOfTheHostAsItCame) {
    Scene scene{.port = 80};
    std::string two = get("example.org", "/a") + get("Example.ORG:80", "/b");
    EXPECT_EQ(judge(two, scene).onward, two);
    std::string body = "POST /c HTTP/1.1\r\nHost: example.org\r\nContent-Length: 5\r\n\r\nhello";
    EXPECT_EQ(judge(body + two, scene).onward, body + two);
    std::string chunked =
        "POST /c HTTP/1.1\r\nHost: example.org\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n";
    EXPECT_EQ(judge(chunked + two, scene).onward, chunked + two);
    EXPECT_EQ(judge("GET / HTTP/1.0\r\n\r\n", scene).onward, "GET / HTTP/1.0\r\n\r\n");
}

TEST(HttpStream, RefusesAnotherHost) {
    Scene scene{.port = 80};
    Outcome outcome = judge(get("other.example"), scene);
    EXPECT_EQ(outcome.state, Guard::State::refused);
    EXPECT_EQ(outcome.onward, "");
    EXPECT_TRUE(outcome.words.starts_with("HTTP/1.1 403 "));
    EXPECT_NE(refused(get("example.org:8080"), scene), "not refused");
    EXPECT_NE(refused(get("2130706433"), scene), "not refused");
}

TEST(HttpStream, RefusesAnotherHostInALaterRequest) {
    Scene scene{.port = 80};
    Outcome outcome = judge(get("example.org") + get("other.example"), scene);
    EXPECT_EQ(outcome.state, Guard::State::refused);
    EXPECT_EQ(outcome.onward, get("example.org"));
}

TEST(HttpStream, RefusesShapesThatServersReadDifferently) {
    Scene scene{.port = 80};
    const std::string host = "Host: example.org\r\n";
    for (const std::string& request : {
             "POST / HTTP/1.1\r\n" + host +
                 "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
             "POST / HTTP/1.1\r\n" + host + "Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello!",
             "POST / HTTP/1.1\r\n" + host + "Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
             "POST / HTTP/1.1\r\n" + host + "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
             "GET / HTTP/1.1\r\n" + host + "Host: other.example\r\n\r\n",
             "GET / HTTP/1.1\r\n" + host + " folded: x\r\n\r\n",
             "GET / HTTP/1.1\n" + std::string("Host: example.org\n\n"),
             "GET http://other.example/ HTTP/1.1\r\n" + host + "\r\n",
             std::string("GET http://other.example/ HTTP/1.1\r\nHost: other.example\r\n\r\n"),
             std::string("CONNECT other.example:443 HTTP/1.1\r\nHost: other.example:443\r\n\r\n"),
             "POST / HTTP/1.1\r\n" + host + "Transfer-Encoding: chunked\r\n\r\n5;x=y\r\nhello\r\n0\r\n\r\n",
             "GET / HTTP/2.0\r\n" + host + "\r\n",
         }) {
        EXPECT_NE(refused(request, scene), "not refused") << request;
    }
}

TEST(HttpStream, RewritesAbsoluteFormAndUnknownUpgrades) {
    Scene scene{.port = 80};
    Outcome absolute = judge("GET http://example.org/x HTTP/1.1\r\nHost: example.org\r\n\r\n", scene);
    EXPECT_TRUE(absolute.onward.starts_with("GET /x HTTP/1.1\r\nHost: example.org\r\n"));
    Outcome upgrade =
        judge(get("example.org", "/", "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n"), scene);
    EXPECT_EQ(upgrade.onward.find("h2c"), std::string::npos);
    EXPECT_TRUE(upgrade.onward.starts_with("GET / HTTP/1.1\r\n"));
}

TEST(HttpStream, SendsNothingBehindARequestThatCloses) {
    Scene scene{.port = 80};
    std::string closing = get("example.org", "/", "Connection: close\r\n");
    EXPECT_EQ(judge(closing + "whatever comes", scene).onward, closing);
    scene.requests = HttpStream::Requests::one;
    Outcome one =
        judge("GET http://example.org/ HTTP/1.1\r\nHost: example.org\r\n\r\n" + get("example.org"), scene);
    EXPECT_EQ(one.onward, "GET / HTTP/1.1\r\nHost: example.org\r\nConnection: close\r\n\r\n");
}

struct Websocket : testing::Test {
    Engine rules = engine();
    Guard guard{Expectation{rules, *parse_host("example.org"), 80}, HttpStream::Requests::many};
    std::string onward;
    std::string request = get("example.org", "/ws", "Connection: Upgrade\r\nUpgrade: websocket\r\n");
};

TEST_F(Websocket, PassesFramesOnceTheServerAgreed) {
    EXPECT_EQ(guard.take(request + "frames", onward), Guard::State::waiting_for_reply);
    EXPECT_EQ(onward, request);
    onward.clear();
    EXPECT_EQ(guard.take_reply("HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 101 Switch", onward),
              Guard::State::waiting_for_reply);
    EXPECT_EQ(onward, "");
    EXPECT_EQ(guard.take_reply("ing Protocols\r\n\r\n", onward), Guard::State::passed);
    EXPECT_EQ(onward, "frames");
}

TEST_F(Websocket, JudgesOnWhenTheServerDeclined) {
    guard.take(request + get("other.example"), onward);
    onward.clear();
    EXPECT_EQ(guard.take_reply("HTTP/1.1 404 Not Found\r\n\r\nHTTP/1.1 101 x\r\n\r\n", onward),
              Guard::State::refused);
    EXPECT_EQ(onward, "");
}

TEST_F(Websocket, NeedsAConnectionOfItsOwn) {
    EXPECT_EQ(guard.take(get("example.org") + request, onward), Guard::State::refused);
    EXPECT_EQ(onward, get("example.org"));
}

}  // namespace
}  // namespace network::gateway
