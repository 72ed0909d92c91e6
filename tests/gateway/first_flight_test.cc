// SPDX-License-Identifier: MIT
#include "network/gateway/connections/first_bytes.h"

#include <gtest/gtest.h>

#include "network/gateway/connections/client_filter.h"
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
    std::string reply = "\x15";  // the server's, to a TLS hello: it continues or ends the handshake
};

// All bytes at once and byte by byte must have the same outcome.
Outcome judge(const std::string& bytes, const Scene& scene = {},
              const Engine& rules = engine({.block = items({"blocked.example"})})) {
    auto run = [&](size_t step) {
        Guard guard(Expectation{rules, *parse_host(scene.host), scene.port, scene.is_open_by_address,
                                scene.takes_other_names},
                    scene.requests);
        Outcome outcome{};
        for (size_t at = 0; at < bytes.size() && guard.state() != Guard::State::refused; at += step) {
            std::string_view piece = std::string_view(bytes).substr(at, step);
            bool is_full = guard.state() == Guard::State::waiting_for_reply && !guard.wants_client();
            if (is_full) guard.take_reply(scene.reply, outcome.onward);
            if (guard.state() == Guard::State::passed) {
                outcome.onward += piece;
            } else if (guard.wants_client()) {
                guard.take(piece, outcome.onward);
            }
        }
        if (guard.state() == Guard::State::waiting_for_reply) guard.take_reply(scene.reply, outcome.onward);
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

TEST(FirstBytes, PassesTheNameThatTheConnectionWasOpenedFor) {
    for (const char* name : {"example.org", "EXAMPLE.org", "example.org."})
        EXPECT_TRUE(passes(client_hello(name)));
    EXPECT_TRUE(passes(client_hello("example.org", true)));
}

TEST(FirstBytes, RefusesAnotherServerName) {
    EXPECT_NE(refused(client_hello("other.example")).find("other.example"), std::string::npos);
    EXPECT_NE(refused(client_hello("other.example", true)), "not refused");
    EXPECT_NE(refused(client_hello("www.example.org")), "not refused");
    EXPECT_EQ(judge(client_hello("other.example")).words, wire::tls_alert(wire::TlsAlert::unrecognized_name));
    EXPECT_TRUE(judge(client_hello("other.example")).onward.empty());
}

TEST(FirstBytes, WantsAServerNameUnlessTheAddressIsOpen) {
    EXPECT_NE(refused(client_hello("")), "not refused");
    EXPECT_TRUE(passes(client_hello(""), {.is_open_by_address = true}));
    EXPECT_TRUE(passes(client_hello(""), {.host = "203.0.113.1"}));
}

TEST(FirstBytes, JudgesNamesBehindALiteralAddress) {
    Scene literal{.host = "203.0.113.1"};
    EXPECT_TRUE(passes(client_hello("example.org"), literal));
    EXPECT_NE(refused(client_hello("blocked.example"), literal), "not refused");
    literal.port = 80;
    EXPECT_EQ(judge(get("203.0.113.1"), literal).onward, get("203.0.113.1"));
    EXPECT_EQ(judge(get("example.org"), literal).onward, get("example.org"));
    EXPECT_NE(refused(get("203.0.113.2"), literal), "not refused");
    EXPECT_NE(refused(get("blocked.example"), literal), "not refused");
}

TEST(FirstBytes, RefusesAMalformedHello) {
    std::string hello = client_hello("example.org");
    hello[2] = 9;
    EXPECT_EQ(judge(hello).words, wire::tls_alert(wire::TlsAlert::decode_error));
    std::string doubled = client_hello("example.org");
    doubled[5] = 2;  // not a ClientHello
    EXPECT_NE(refused(doubled), "not refused");
}

TEST(FirstBytes, PassesProtocolsThatNameNoHost) {
    EXPECT_TRUE(passes("SSH-2.0-OpenSSH_9.2\r\n"));
    EXPECT_TRUE(passes("SSH-2.0-OpenSSH_9.2 Debian-2\r\n"));
    Scene scene{.port = 7777};
    EXPECT_TRUE(passes("EHLO here\r\n", scene));
    EXPECT_TRUE(passes("*1\r\n$4\r\nPING\r\n", scene));
    EXPECT_TRUE(passes("{\"id\": 1}\n", scene));
}

TEST(FirstBytes, PassesTheRestOfAClientThatEndsBeforeItIsUnderstood) {
    Engine rules = engine();
    Guard guard(Expectation{rules, *parse_host("example.org"), 7}, HttpStream::Requests::many);
    std::string onward;
    EXPECT_EQ(guard.take("hello http", onward), Guard::State::judging);
    EXPECT_TRUE(guard.is_holding());
    EXPECT_EQ(onward, "");
    EXPECT_EQ(guard.take_end(onward), Guard::State::passed);
    EXPECT_EQ(onward, "hello http");
}

// Each of these is everything that the client sends before the server answers.
TEST(FirstBytes, LetsAWordWithoutAnEndGoOn) {
    Engine rules = engine();
    for (std::string_view word :
         {std::string_view("ruok"), std::string_view("JDWP-Handshake"), std::string_view("hello there")}) {
        Guard guard(Expectation{rules, *parse_host("example.org"), 7}, HttpStream::Requests::many);
        std::string onward;
        EXPECT_EQ(guard.take(word, onward), Guard::State::judging);
        EXPECT_EQ(onward, word);
        EXPECT_FALSE(guard.is_holding()) << "it may stay silent as long as it likes";
        EXPECT_EQ(guard.take_end(onward), Guard::State::passed);
        EXPECT_EQ(onward, word) << "and nothing of it twice";
    }
}

TEST(FirstBytes, JudgesARequestWhoseBeginningWentOn) {
    Engine rules = engine();
    Expectation expected{rules, *parse_host("example.org"), 7777};
    Guard honest(expected, HttpStream::Requests::many);
    std::string onward;
    honest.take("GET /a", onward);
    EXPECT_EQ(onward, "GET /a");
    honest.take("b HTTP/1.1\r\nHost: exam", onward);
    EXPECT_EQ(onward, "GET /a") << "behind the first line's end nothing goes on unjudged";
    honest.take("ple.org:7777\r\n\r\nGET /c HTTP/1.1\r\nHost: example.org:7777\r\n\r\n", onward);
    EXPECT_EQ(onward,
              "GET /ab HTTP/1.1\r\nHost: example.org:7777\r\n\r\n"
              "GET /c HTTP/1.1\r\nHost: example.org:7777\r\n\r\n");

    Guard other(expected, HttpStream::Requests::many);
    onward.clear();
    other.take("GET /a", onward);
    EXPECT_EQ(other.take(" HTTP/1.1\r\nHost: other.example\r\n\r\n", onward), Guard::State::refused);
    EXPECT_EQ(onward, "GET /a");
}

TEST(FirstBytes, HoldsATargetThatIsRewritten) {
    Engine rules = engine();
    Guard guard(Expectation{rules, *parse_host("example.org"), 7777}, HttpStream::Requests::many);
    std::string onward;
    guard.take("GET ", onward);
    guard.take("Http://other.example/", onward);
    EXPECT_EQ(onward, "GET ");
    EXPECT_TRUE(guard.is_holding());
    EXPECT_EQ(guard.take_end(onward), Guard::State::refused) << "a server may take the end for the line's";
    EXPECT_EQ(onward, "GET ");
}

TEST(FirstBytes, RefusesALineThatEndsWithACarriageReturnAlone) {
    for (uint16_t port : std::initializer_list<uint16_t>{80, 7777}) {
        Outcome outcome = judge("GET / HTTP/1.1\rHost: other.example\r\r", {.port = port});
        EXPECT_EQ(outcome.state, Guard::State::refused);
        EXPECT_EQ(outcome.onward, "");
    }
}

// Bytes that pass as an unknown protocol must not be TLS or HTTP for even the most lenient server.
TEST(FirstBytes, RefusesWhatServersSkipBeforeAHelloOrARequest) {
    std::string request = get("other.example"), hello = client_hello("other.example");
    for (uint16_t port : std::initializer_list<uint16_t>{80, 443, 7777}) {
        Scene scene{.port = port};
        for (const std::string& junk :
             {std::string("\x01"), std::string("\r\n\0", 3), std::string("\x05"), std::string("\xef\xbb\xbf"),
              std::string("PROXY TCP4 192.0.2.1 192.0.2.2 1 2\r\n"), std::string("PROXY UNKNOWN\r\n"),
              std::string("\r\n\r\n\0\r\nQUIT\n\x20\0\0\0", 16)})
            EXPECT_NE(refused(junk + request, scene), "not refused") << port << " " << junk;
        for (const std::string& record :
             {std::string("\x15\x03\x01\0\x02\x01\0", 7), std::string("\x14\x03\x03\0\x01\x01", 6),
              std::string("\x17\x03\x03\0\x01x", 6), std::string("\x16\x03\x01\0\0", 5),
              std::string("\x15\x01\0\0\x02\x01\0", 7)})
            EXPECT_NE(refused(record + hello, scene), "not refused") << port;
        EXPECT_NE(refused(std::string("\x80\x2e\x01\x03\x01\0\x15", 7), scene), "not refused");
        EXPECT_NE(refused("SSH-2.0-x / HTTP/1.1\r\nHost: other.example\r\n\r\n", scene), "not refused");
        EXPECT_NE(refused("GET http://other.example/\r\n\r\n", scene), "not refused");
    }
}

TEST(FirstBytes, RefusesUnknownProtocolsWhereHttpOrTlsIsUsual) {
    for (const char* bytes : {"\x01", "PING\r\n", "{\"id\": 1}\n"}) {
        std::string reason = refused(bytes, {.port = 443});
        EXPECT_NE(reason.find("port 443 is usual for TLS (https)"), std::string::npos) << reason;
        EXPECT_NE(reason.find("network.allow = [\"raw:example.org:443\"]"), std::string::npos) << reason;
        EXPECT_NE(refused(bytes, {.port = 8080}), "not refused");
        EXPECT_TRUE(passes(std::string(bytes) + "x\n", {.port = 443, .is_open_by_address = true}));
        EXPECT_TRUE(passes(std::string(bytes) + "x\n", {.host = "203.0.113.1"}));
    }
    EXPECT_EQ(judge("PING", {.port = 443}).onward, "") << "nothing goes on before it is known";
    EXPECT_NE(refused(std::string(20000, 'x'), {.port = 443}), "not refused");
}

TEST(FirstBytes, RefusesUnknownProtocolsWhereARuleBlocksThem) {
    Engine strict = engine({.block = items({"raw:*"})});
    Outcome outcome = judge("PING\r\n", {.port = 7777}, strict);
    EXPECT_EQ(outcome.state, Guard::State::refused);
    EXPECT_NE(outcome.reason.find("raw:*"), std::string::npos) << outcome.reason;
    EXPECT_EQ(judge("SSH-2.0-x\r\n", {.port = 22}, strict).state, Guard::State::passed);
    EXPECT_EQ(judge(client_hello("example.org"), {.port = 7777}, strict).state, Guard::State::passed);
}

TEST(FirstBytes, JudgesALineHoweverLongItIs) {
    Engine rules = engine();
    Scene scene{.port = 7777};
    EXPECT_TRUE(passes(std::string(100000, 'x') + "\n", scene));
    EXPECT_TRUE(passes(std::string(100000, '\0') + "x\n", scene));
    for (const std::string& beginning :
         {std::string(100000, 'x') + " /", std::string(100000, '\0') + "GET /"}) {
        std::string bytes = beginning + " HTTP/1.1\r\nHost: other.example\r\n\r\n";
        for (size_t step : {size_t{1}, size_t{4096}, bytes.size()}) {
            Guard guard(Expectation{rules, *parse_host("example.org"), 7777}, HttpStream::Requests::many);
            std::string onward;
            for (size_t at = 0; at < bytes.size() && guard.state() == Guard::State::judging; at += step)
                guard.take(std::string_view(bytes).substr(at, step), onward);
            EXPECT_EQ(guard.state(), Guard::State::refused);
            EXPECT_EQ(onward.find('\n'), std::string::npos);
        }
    }
}

// ---- A second hello
// ------------------------------------------------------------------------------------------------------

std::string retry_request() {
    std::string random =
        "\xcf\x21\xad\x74\xe5\x9a\x61\x11\xbe\x1d\x8c\x02\x1e\x65\xb8\x91"
        "\xc2\xa2\x11\x16\x7a\xbb\x8c\x5e\x07\x9e\x09\xe2\xc8\xa8\x33\x9c";
    return std::string("\x16\x03\x03\0\x2c\x02\0\0\x28\x03\x03", 11) + random + std::string(6, '\0');
}

TEST(FirstBytes, JudgesASecondHello) {
    std::string first = client_hello("example.org"), honest = first, other = client_hello("other.example");
    std::string change("\x14\x03\x03\0\x01\x01", 6), early("\x17\x03\x03\0\x03xyz", 8);
    Scene scene{.reply = retry_request()};
    for (const std::string& between : {std::string(), change, early + change, early + early}) {
        EXPECT_TRUE(passes(first + between + honest, scene));
        Outcome outcome = judge(first + between + other, scene);
        EXPECT_EQ(outcome.state, Guard::State::refused);
        EXPECT_EQ(outcome.onward, first);
    }
    EXPECT_NE(refused(first + std::string("\x15\x03\x03\0\x02\x01\0", 7) + other, scene), "not refused");
    std::string too_much;
    while (too_much.size() < 100000) too_much += early;
    EXPECT_NE(refused(first + too_much + honest, scene), "not refused");
}

TEST(FirstBytes, WaitsForTheServersAnswerToAHello) {
    Engine rules = engine();
    Guard guard(Expectation{rules, *parse_host("example.org"), 443}, HttpStream::Requests::many);
    std::string onward, hello = client_hello("example.org");
    EXPECT_EQ(guard.take(hello + "more", onward), Guard::State::waiting_for_reply);
    EXPECT_EQ(onward, hello);
    EXPECT_FALSE(guard.wants_client()) << "nothing is read behind what is held";
    EXPECT_EQ(guard.take_reply("\x16\x03\x03", onward), Guard::State::waiting_for_reply);
    EXPECT_EQ(guard.take_reply(std::string("\0\x30\x02\0\0\x2c\x03\x03", 8) + std::string(40, 'r'), onward),
              Guard::State::passed);
    EXPECT_EQ(onward, hello + "more");
}

TEST(FirstBytes, PassesTheEndOfAClientThatSaysAHelloAndNothingElse) {
    Engine rules = engine();
    Guard guard(Expectation{rules, *parse_host("example.org"), 443}, HttpStream::Requests::many);
    std::string onward;
    guard.take(client_hello("example.org"), onward);
    EXPECT_EQ(guard.take_end(onward), Guard::State::passed);
}

// ---- PostgreSQL
// ----------------------------------------------------------------------------------------------------------

struct Postgres : testing::Test {
    Engine rules = engine();
    Guard guard{Expectation{rules, *parse_host("example.org"), 5432}, HttpStream::Requests::many};
    std::string onward;
    std::string request = std::string("\0\0\0\x08\x04\xd2\x16\x2f", 8);
    std::string gss_request = std::string("\0\0\0\x08\x04\xd2\x16\x30", 8);
    std::string start = std::string("\0\0\0\x0f\0\x03\0\0user\0x\0", 15);
};

TEST_F(Postgres, JudgesTheHelloBehindARequestForTls) {
    EXPECT_EQ(guard.take(request + client_hello("other.example"), onward), Guard::State::waiting_for_reply);
    EXPECT_EQ(onward, request) << "nothing behind it goes on before the server has agreed";
    EXPECT_EQ(guard.take_reply("S", onward), Guard::State::refused);
    EXPECT_EQ(onward, request);
}

TEST_F(Postgres, PassesAHelloOfTheNameAndOneWithoutAName) {
    for (const char* name : {"example.org", ""}) {
        Guard fresh{Expectation{rules, *parse_host("example.org"), 5432}, HttpStream::Requests::many};
        std::string sent;
        fresh.take(request, sent);
        EXPECT_EQ(fresh.take_reply("S", sent), Guard::State::judging);
        EXPECT_EQ(fresh.take(client_hello(name), sent), Guard::State::waiting_for_reply);
        EXPECT_EQ(fresh.take_reply("\x15", sent), Guard::State::passed);
        EXPECT_EQ(sent, request + client_hello(name));
    }
}

TEST_F(Postgres, PassesAServerThatDeclinesOrFails) {
    guard.take(gss_request, onward);
    EXPECT_EQ(guard.take_reply("N", onward), Guard::State::judging);
    EXPECT_EQ(guard.take(request, onward), Guard::State::waiting_for_reply);
    EXPECT_EQ(guard.take_reply("N", onward), Guard::State::judging);
    guard.take(start, onward);
    EXPECT_EQ(onward, gss_request + request + start);
    guard.take(std::string_view("Q\0\0\0\x0dselect 1\n", 14), onward);
    EXPECT_EQ(guard.state(), Guard::State::passed);
}

TEST(FirstBytes, RefusesHttp2InClear) {
    EXPECT_NE(refused("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").find("HTTP/2"), std::string::npos);
}

// Bytes that a lenient server would accept as a request must not pass as another protocol.
TEST(FirstBytes, TakesAllThatLooksLikeHttpForHttp) {
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
