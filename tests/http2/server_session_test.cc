// SPDX-License-Identifier: MIT
#include "network/http2/server_session.h"

#include <gtest/gtest.h>

#include "frames.h"

namespace network::http2 {
namespace {

constexpr std::string_view kOk = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

std::string request_of(ServerSession& server, int32_t stream) {
    std::string plain;
    server.take_request(stream, plain);
    return plain;
}

TEST(ServerSession, ReadsARequestAndWritesItsAnswer) {
    ServerSession server;
    server.receive(opening() + request(1, kGet));
    ASSERT_EQ(server.next_request(), 1);
    EXPECT_EQ(server.next_request(), 0);
    EXPECT_EQ(request_of(server, 1), "GET /user HTTP/1.1\r\nhost: api.example.org\r\n\r\n");
    EXPECT_EQ(request_of(server, 1), "");
    EXPECT_EQ(server.answer(1, kOk), kOk.size());
    EXPECT_EQ(types_of(output_of(server)), "H D ");
    EXPECT_FALSE(server.is_gone(1));
    server.drop(1);
    EXPECT_EQ(server.streams(), 0u);
}

TEST(ServerSession, ReadsABodyInChunksWithTrailers) {
    ServerSession server;
    Fields post = changed(kGet, ":method", "POST");
    server.receive(opening() + request(1, post, kEndHeaders) + frame(kData, 0, 1, "abc"));
    ASSERT_EQ(server.next_request(), 1);
    EXPECT_TRUE(request_of(server, 1).ends_with("transfer-encoding: chunked\r\n\r\n3\r\nabc\r\n"));
    server.receive(frame(kData, 0, 1, "d") + frame(kData, 0, 1, "e"));
    EXPECT_EQ(request_of(server, 1), "2\r\nde\r\n");
    server.receive(request(1, {{"a", "b"}}));
    EXPECT_EQ(request_of(server, 1), "0\r\na: b\r\n\r\n");
}

TEST(ServerSession, SendsTheAnswerBeforeTheRequestEnds) {
    ServerSession server;
    server.receive(opening() + request(1, changed(kGet, ":method", "POST"), kEndHeaders));
    ASSERT_EQ(server.next_request(), 1);
    server.answer(1, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n");
    EXPECT_EQ(types_of(output_of(server)), "H D ");
    server.answer(1, "1\r\nb\r\n0\r\ngrpc-status: 0\r\n\r\n");
    EXPECT_EQ(types_of(output_of(server)), "D H ");
}

TEST(ServerSession, ResetsARequestThatGoesOnAfterItsAnswer) {
    ServerSession server;
    server.receive(opening() + request(1, changed(kGet, ":method", "POST"), kEndHeaders));
    server.answer(server.next_request(), kOk);
    EXPECT_EQ(types_of(output_of(server)), "H D ");
    server.drop(1);
    auto wait = [&] {
        for (int i = 0; i < ServerSession::kLingering; ++i) server.sweep();
    };
    wait();
    server.receive(frame(kData, 0, 1, "abc"));
    wait();
    EXPECT_EQ(types_of(output_of(server)), "");
    server.sweep();
    EXPECT_EQ(types_of(output_of(server)), "R0 ");
    EXPECT_EQ(server.streams(), 0u);
    // Control: one that ends.
    server.receive(request(3, changed(kGet, ":method", "POST"), kEndHeaders));
    server.answer(server.next_request(), kOk);
    output_of(server);
    server.receive(frame(kData, kEnd, 3, "abc"));
    server.drop(3);
    wait();
    server.sweep();
    EXPECT_EQ(types_of(output_of(server)), "");
    EXPECT_EQ(server.streams(), 0u);
}

TEST(ServerSession, EndsAnAnswerWithoutBodyInItsHead) {
    ServerSession server;
    server.receive(opening() + request(1, kGet));
    server.answer(server.next_request(), "HTTP/1.1 200 OK\r\nContent-Length: 0\r\ngrpc-status: 5\r\n\r\n");
    std::string out = output_of(server);
    EXPECT_EQ(types_of(out), "H ");
    EXPECT_EQ(out[out.size() - 1], '5');
}

// Threat: two requests in one stream, or the body of one as the head of the next.
TEST(ServerSession, HandsOutOneRequestForEachStream) {
    const std::string smuggled = "GET /other HTTP/1.1\r\nHost: api.example.org\r\n\r\n";
    const Fields post = changed(kGet, ":method", "POST");
    struct Case {
        const char* name;
        std::string bytes;
    };
    const Case cases[] = {
        {"more than Content-Length",
         request(1, with(post, "content-length", "2"), kEndHeaders) + frame(kData, kEnd, 1, "ab" + smuggled)},
        {"less than Content-Length",
         request(1, with(post, "content-length", "9"), kEndHeaders) + frame(kData, kEnd, 1, "ab")},
        {"Content-Length of a stream that has ended", request(1, with(post, "content-length", "9"))},
        {"two Content-Length", request(1, with(with(post, "content-length", "0"), "content-length", "9"))},
        {"Transfer-Encoding", request(1, with(post, "transfer-encoding", "chunked"), kEndHeaders) +
                                  frame(kData, kEnd, 1, "0\r\n\r\n" + smuggled)},
        {"a line end in a value", request(1, with(kGet, "a", "b\r\n\r\n" + smuggled))},
        {"a line end in a path", request(1, changed(kGet, ":path", "/ HTTP/1.1\r\n\r\n" + smuggled))},
        {"an upper-case name", request(1, with(kGet, "Transfer-Encoding", "chunked"))},
    };
    for (const Case& row : cases) {
        ServerSession server;
        server.receive(opening() + row.bytes);
        std::string plain;
        while (int32_t stream = server.next_request()) server.take_request(stream, plain);
        EXPECT_EQ(plain.find("/other"), std::string::npos) << row.name << plain;
        std::string out = types_of(output_of(server));
        EXPECT_TRUE(out.find('R') != std::string::npos || out.find('H') != std::string::npos) << row.name;
    }
    // Control: as data of a body it is only data.
    ServerSession server;
    server.receive(opening() + request(1, post, kEndHeaders) + frame(kData, kEnd, 1, smuggled));
    std::string plain = request_of(server, server.next_request());
    EXPECT_TRUE(plain.ends_with("\r\n\r\n2e\r\n" + smuggled + "\r\n0\r\n\r\n")) << plain;
}

TEST(ServerSession, AnswersAMalformedRequestAndGoesOn) {
    ServerSession server;
    server.receive(opening() + request(1, changed(kGet, ":authority", "user@api.example.org")) +
                   request(3, changed(kGet, ":scheme", "http")) + request(5, kGet));
    EXPECT_EQ(server.next_request(), 5);
    EXPECT_EQ(server.next_request(), 0);
    EXPECT_EQ(server.fault(), "");
    EXPECT_NE(types_of(output_of(server)), "");
}

TEST(ServerSession, RefusesALongHead) {
    ServerSession server;
    Fields many = kGet;
    for (int i = 0; i < 10; ++i) many.push_back({"a", std::string(2000, 'b')});
    std::string block = block_of(many);
    std::string bytes =
        frame(kHeaders, kEnd, 1, block.substr(0, 16000)) + frame(kMore, kEndHeaders, 1, block.substr(16000));
    server.receive(opening() + bytes + request(3, kGet));
    EXPECT_EQ(server.next_request(), 3);
    EXPECT_EQ(types_of(output_of(server)), "H D ");
}

TEST(ServerSession, EndsTheConnectionOfAFlood) {
    struct Case {
        const char* name;
        std::string bytes;
        std::string code;
    };
    std::string resets, bad, empty = request(1, changed(kGet, ":method", "POST"), kEndHeaders);
    for (uint32_t stream = 1; stream < 801; stream += 2) {
        resets += request(stream, kGet) + frame(kResetStream, 0, stream, std::string("\0\0\0\x08", 4));
        bad += request(stream, with(kGet, "a", "\x01"));
    }
    std::string misuse;
    for (uint32_t stream = 1; stream < 801; stream += 2)
        misuse += request(stream, changed(kGet, ":path", "x"));
    for (int i = 0; i < 2000; ++i) empty += frame(kData, 0, 1, "");
    std::string block = frame(kHeaders, kEnd, 1, block_of(kGet));
    for (int i = 0; i < 100; ++i) block += frame(kMore, 0, 1, literal("a", "b"));
    const Case cases[] = {{"streams that are reset", resets, "G11 "},
                          {"streams with a malformed field", bad, "G11 "},
                          {"streams with a malformed path", misuse, "G11 "},
                          {"empty DATA", empty, "G11 "},
                          {"CONTINUATION without end", block, "G11 "}};
    for (const Case& row : cases) {
        ServerSession server;
        server.receive(opening());
        output_of(server);
        size_t taken = 0;
        for (size_t at = 0; at < row.bytes.size() && server.fault().empty(); at += 100) {
            server.receive(std::string_view(row.bytes).substr(at, 100));
            while (int32_t stream = server.next_request()) {
                ++taken;
                server.answer(stream, kOk);
                server.drop(stream);
            }
            std::string out = output_of(server);
        }
        EXPECT_FALSE(server.fault().empty()) << row.name;
        EXPECT_LE(taken, 201u) << row.name;
        EXPECT_TRUE(server.is_over()) << row.name;
    }
}

// The connection's last word names the reason.
TEST(ServerSession, NamesTheFloodInItsLastFrame) {
    // Fewer are in the budget, but wait for the client to read.
    for (int count : {FrameBudget::kMost + 1, 3000}) {
        ServerSession server;
        std::string pings;
        for (int i = 0; i < count; ++i) pings += frame(kPing, 0, 0, "12345678");
        server.receive(opening());
        server.receive(pings);
        constexpr int kEnhanceYourCalm = 11;
        std::string types = types_of(output_of(server));
        EXPECT_TRUE(types.ends_with("G" + std::to_string(kEnhanceYourCalm) + " ")) << types;
    }
}

TEST(ServerSession, AcceptsAHundredStreams) {
    ServerSession server;
    server.receive(opening());
    output_of(server);
    server.receive(frame(kSettings, 1, 0, ""));
    uint32_t stream = 1;
    for (; stream < 200; stream += 2) server.receive(request(stream, kGet));
    EXPECT_EQ(server.streams(), ServerSession::kMostStreams);
    server.receive(request(stream, kGet));
    EXPECT_EQ(server.streams(), ServerSession::kMostStreams);
}

TEST(ServerSession, BoundsWhatAClientDoesNotWaitFor) {
    ServerSession server;
    const std::string data = frame(kData, 0, 1, std::string(16384, 'a'));
    server.receive(opening() + request(1, changed(kGet, ":method", "POST"), kEndHeaders));
    ASSERT_EQ(server.next_request(), 1);
    // The window has 65535 bytes, and is not filled again while the request is not taken.
    for (int i = 0; i < 4; ++i) server.receive(data);
    constexpr std::string_view kFlowControl = "R3 ";
    EXPECT_NE(types_of(output_of(server)).find(kFlowControl), std::string::npos);
    // Control: with a reader.
    ServerSession other;
    other.receive(opening() + request(1, changed(kGet, ":method", "POST"), kEndHeaders));
    size_t size = 0;
    for (int i = 0; i < 40; ++i) {
        other.receive(data);
        size += request_of(other, 1).size();
        EXPECT_EQ(types_of(output_of(other)), "");
    }
    EXPECT_GT(size, 40u * 16384);
}

TEST(ServerSession, KeepsTheAnswerOfAClientThatDoesNotRead) {
    ServerSession server;
    server.receive(opening() + request(1, kGet));
    ASSERT_EQ(server.next_request(), 1);
    server.answer(1, "HTTP/1.1 200 OK\r\nContent-Length: 9999999\r\n\r\n");
    const std::string part(100000, 'a');
    size_t used = 0, last = 0;
    do {
        last = server.answer(1, part);
        used += last;
        output_of(server);
    } while (last > 0);
    EXPECT_LE(used, 65535 + ServerSession::kMostWaiting);
    EXPECT_GE(used, 65535u);
    // Control: with more room it goes on.
    server.receive(frame(kWindow, 0, 1, std::string("\0\1\0\0", 4)) +
                   frame(kWindow, 0, 0, std::string("\0\1\0\0", 4)));
    output_of(server);
    EXPECT_GT(server.answer(1, part), 0u);
}

TEST(ServerSession, ResetsAnAnswerThatBreaks) {
    for (std::string_view answer :
         {"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc", "",
          "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n", "HTTP/9 what\r\n\r\n"}) {
        ServerSession server;
        server.receive(opening() + request(1, kGet));
        ASSERT_EQ(server.next_request(), 1);
        server.answer(1, answer);
        server.end_answer(1);
        EXPECT_NE(types_of(output_of(server)).find("R2 "), std::string::npos) << answer;
    }
    // Control: an answer that lasts until the connection is closed.
    ServerSession server;
    server.receive(opening() + request(1, kGet));
    server.answer(server.next_request(), "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nabc");
    server.end_answer(1);
    EXPECT_EQ(types_of(output_of(server)).find("R"), std::string::npos);
    EXPECT_FALSE(server.is_gone(1));
}

TEST(ServerSession, NotesAStreamThatTheClientResets) {
    ServerSession server;
    server.receive(opening() + request(1, kGet) + request(3, kGet));
    ASSERT_EQ(server.next_request(), 1);
    EXPECT_FALSE(server.is_gone(1));
    server.receive(frame(kResetStream, 0, 1, std::string("\0\0\0\x08", 4)));
    EXPECT_TRUE(server.is_gone(1));
    EXPECT_EQ(server.answer(1, kOk), kOk.size());
    server.drop(1);
    server.receive(frame(kResetStream, 0, 3, std::string("\0\0\0\x08", 4)));
    EXPECT_EQ(server.next_request(), 0);
    EXPECT_EQ(server.streams(), 0u);
}

TEST(ServerSession, EndsAConnectionThatIsNotHttp2) {
    ServerSession server;
    server.receive("GET / HTTP/1.1\r\nHost: api.example.org\r\n\r\n");
    EXPECT_NE(server.fault(), "");
}

}  // namespace
}  // namespace network::http2
