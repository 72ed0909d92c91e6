// SPDX-License-Identifier: MIT
#include "network/http2/client_session.h"

#include <gtest/gtest.h>

#include "frames.h"

namespace network::http2 {
namespace {

// Through both sessions and back.
struct Pair {
    ClientSession client;
    ServerSession server;

    std::string send(std::string_view request) {
        client.request(request);
        exchange_bytes(client, server);
        std::string plain;
        if (int32_t next = server.next_request()) stream = next;
        server.take_request(stream, plain);
        return plain;
    }
    std::string answer(std::string_view text) {
        server.answer(stream, text);
        return exchange_bytes(client, server);
    }
    int32_t stream = 0;
};

TEST(ClientSession, PassesRequestsOneAfterTheOther) {
    Pair pair;
    EXPECT_EQ(pair.send("GET /a HTTP/1.1\r\nHost: api.example.org\r\nAccept: b\r\n\r\n"),
              "GET /a HTTP/1.1\r\nhost: api.example.org\r\naccept: b\r\n\r\n");
    EXPECT_EQ(pair.answer("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"),
              "HTTP/1.1 200 \r\ncontent-length: 2\r\n\r\nok");
    EXPECT_EQ(pair.send("POST /b HTTP/1.1\r\nHost: api.example.org\r\nContent-Length: 3\r\n\r\nabc"),
              "POST /b HTTP/1.1\r\nhost: api.example.org\r\ncontent-length: 3\r\n\r\nabc");
    EXPECT_EQ(pair.answer("HTTP/1.1 204 No Content\r\n\r\n"), "HTTP/1.1 204 \r\n\r\n");
    EXPECT_FALSE(pair.client.is_over());
}

TEST(ClientSession, PassesBodiesAndTrailersBothWays) {
    Pair pair;
    EXPECT_TRUE(
        pair.send("POST /a.B/C HTTP/1.1\r\nHost: api.example.org\r\nTransfer-Encoding: chunked\r\n\r\n"
                  "3\r\nabc\r\n")
            .ends_with("transfer-encoding: chunked\r\n\r\n3\r\nabc\r\n"));
    EXPECT_EQ(pair.answer("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nde\r\n"),
              "HTTP/1.1 200 \r\ntransfer-encoding: chunked\r\n\r\n2\r\nde\r\n");
    EXPECT_EQ(pair.send("1\r\nf\r\n"), "1\r\nf\r\n");
    EXPECT_EQ(pair.answer("1\r\ng\r\n"), "1\r\ng\r\n");
    EXPECT_EQ(pair.send("0\r\nA: b\r\n\r\n"), "0\r\na: b\r\n\r\n");
    EXPECT_EQ(pair.answer("0\r\ngrpc-status: 0\r\n\r\n"), "0\r\ngrpc-status: 0\r\n\r\n");
    EXPECT_FALSE(pair.client.is_over());
}

TEST(ClientSession, PassesInterimAnswersAndHead) {
    Pair pair;
    pair.send("HEAD /a HTTP/1.1\r\nHost: api.example.org\r\n\r\n");
    EXPECT_EQ(pair.answer(
                  "HTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"),
              "HTTP/1.1 103 \r\nlink: a\r\n\r\nHTTP/1.1 200 \r\ncontent-length: 5\r\n\r\n");
}

TEST(ClientSession, WaitsForTheWindowOfTheServer) {
    Pair pair;
    pair.send("POST /a HTTP/1.1\r\nHost: api.example.org\r\nContent-Length: 200000\r\n\r\n");
    pair.client.request(std::string(200000, 'a'));
    std::string answer, out;
    for (int i = 0; i < 3; ++i) {
        pair.client.take_output(out);
        pair.server.receive(std::exchange(out, {}));
    }
    EXPECT_EQ(pair.client.waiting(), 200000u - ServerSession::kWindow);
    size_t size = 0;
    std::string plain;
    while (pair.server.take_request(pair.stream, plain) > 0) {
        size += std::exchange(plain, {}).size();
        exchange_bytes(pair.client, pair.server);
    }
    EXPECT_EQ(size, 200000u);
    EXPECT_EQ(pair.client.waiting(), 0u);
}

TEST(ClientSession, EndsWithAStreamThatIsReset) {
    Pair pair;
    pair.send("GET /a HTTP/1.1\r\nHost: api.example.org\r\n\r\n");
    pair.server.reset(pair.stream);
    EXPECT_EQ(exchange_bytes(pair.client, pair.server), "");
    EXPECT_TRUE(pair.client.is_over());
    EXPECT_NE(pair.client.fault(), "");
}

// The server's frames, and whether the connection can be used after them.
struct Read {
    std::string answer;
    bool is_over;
};
Read read(const std::string& frames,
          std::string_view request = "GET /a HTTP/1.1\r\nHost: a.example\r\n\r\n") {
    ClientSession client;
    client.request(request);
    std::string out;
    client.take_output(out);
    Read result;
    constexpr uint8_t kAcknowledged = 1;
    client.receive(frame(kSettings, 0, 0, "") + frame(kSettings, kAcknowledged, 0, "") + frames,
                   result.answer);
    client.take_output(out);
    result.is_over = client.is_over();
    return result;
}

TEST(ClientSession, RefusesAnswersThatHttp1WouldDivide) {
    const std::string second = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
    const Fields ok = {{":status", "200"}};
    const std::string bad[] = {
        request(1, with(ok, "a", "b\r\n\r\n" + second)),
        request(1, with(ok, "transfer-encoding", "chunked"), kEndHeaders) +
            frame(kData, kEnd, 1, "0\r\n\r\n" + second),
        request(1, with(ok, "content-length", "2"), kEndHeaders) + frame(kData, kEnd, 1, "ab" + second),
        request(1, with(ok, "content-length", "9"), kEndHeaders) + frame(kData, kEnd, 1, "ab"),
        request(1, {{":status", "101"}}),
        request(1, {{":status", "200"}, {":status", "200"}}),
        request(1, {{"a", "b"}}),
        request(1, ok, kEndHeaders) + request(1, {{"a", "b\r\nc"}}),
    };
    for (const std::string& frames : bad) {
        Read result = read(frames);
        EXPECT_TRUE(result.is_over) << types_of(frames);
        EXPECT_EQ(result.answer.find(second), std::string::npos) << result.answer;
        EXPECT_FALSE(result.answer.ends_with("0\r\n\r\n")) << result.answer;
    }
    // Control.
    Read result =
        read(request(1, with(ok, "content-length", "2"), kEndHeaders) + frame(kData, kEnd, 1, "ab"));
    EXPECT_EQ(result.answer, "HTTP/1.1 200 \r\ncontent-length: 2\r\n\r\nab");
    EXPECT_FALSE(result.is_over);
}

TEST(ClientSession, EndsWithHeadsAndFramesWithoutEnd) {
    std::string interim, pings;
    for (int i = 0; i < 40; ++i) interim += request(1, {{":status", "103"}}, kEndHeaders);
    EXPECT_TRUE(read(interim).is_over);
    for (int i = 0; i <= FrameBudget::kMost; ++i) pings += frame(kPing, 0, 0, "12345678");
    EXPECT_TRUE(read(pings).is_over);
    Fields large = {{":status", "200"}};
    for (int i = 0; i < 8; ++i) large.push_back({"a", std::string(2000, 'b')});
    EXPECT_FALSE(read(request(1, large)).is_over);
    large.push_back({"a", std::string(2000, 'b')});
    std::string block = block_of(large);
    EXPECT_TRUE(read(frame(kHeaders, kEnd, 1, block.substr(0, 16000)) +
                     frame(kMore, kEndHeaders, 1, block.substr(16000)))
                    .is_over);
}

TEST(ClientSession, LeavesAConnectionThatTheServerCloses) {
    const std::string away = frame(kGoAway, 0, 0, std::string("\0\0\0\1\0\0\0\0", 8));
    EXPECT_TRUE(read(request(1, {{":status", "200"}}) + away).is_over);
    // The answer still comes.
    Read result = read(away + request(1, {{":status", "200"}}, kEndHeaders));
    EXPECT_FALSE(result.is_over);
    // Pushed answers were not asked for.
    std::string push = frame(kPush, kEndHeaders, 1, std::string("\0\0\0\2", 4) + block_of(kGet));
    EXPECT_TRUE(read(push).is_over);
}

TEST(ClientSession, LeavesAConnectionWhoseAnswerCameEarly) {
    Read result = read(request(1, {{":status", "413"}}),
                       "POST /a HTTP/1.1\r\nHost: a.example\r\nContent-Length: 9\r\n\r\nabc");
    EXPECT_TRUE(result.answer.starts_with("HTTP/1.1 413"));
    EXPECT_TRUE(result.is_over);
}

}  // namespace
}  // namespace network::http2
