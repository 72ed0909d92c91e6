// SPDX-License-Identifier: MIT
#include "network/wire/http/http_response.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "verdicts.h"

namespace network::wire {
namespace {

// Status, framing, persistence, then the data of the body and what is left; one line.
std::string read(std::string_view input, bool answers_head, uint32_t seed, bool is_closed) {
    std::string received, text, data;
    HttpResponseHead head(answers_head);
    in_pieces(input, seed, [&](std::string_view piece) {
        received += piece;
        head.look(received);
    });
    if (head.look(received) == HttpResponseHead::State::need_more) return "need more";
    if (head.look(received) == HttpResponseHead::State::refused)
        return "refused: " + std::string(head.fault());
    const HttpResponse& response = head.response();
    constexpr std::string_view kFramings[] = {"none", "sized", "chunked", "until close"};
    text = std::to_string(response.status) + " " +
           std::string(kFramings[static_cast<int>(response.framing)]) +
           (response.keeps_alive ? " keeps" : " closes");
    HttpBody body(response.framing, response.length);
    size_t taken = 0;
    in_pieces(input.substr(response.head_size), seed, [&](std::string_view piece) {
        if (body.state() == HttpBody::State::open) taken += body.take(piece, data);
    });
    if (is_closed) body.end();
    text += body.state() == HttpBody::State::open       ? " open"
            : body.state() == HttpBody::State::complete ? " complete"
                                                        : " malformed";
    if (!data.empty()) text += " '" + data + "'";
    if (!body.trailers().empty()) text += " trailers " + base::printable(body.trailers());
    size_t rest = input.size() - response.head_size - taken;
    return rest > 0 ? text + " +" + std::to_string(rest) : text;
}

std::string verdict(std::string_view input, bool answers_head = false, bool is_closed = false) {
    std::string whole = read(input, answers_head, kWhole, is_closed);
    for (uint32_t seed : {uint32_t{kBytewise}, 2u, 3u})
        EXPECT_EQ(read(input, answers_head, seed, is_closed), whole);
    return whole;
}

constexpr std::string_view kOk = "HTTP/1.1 200 OK\r\n";
std::string ok(std::string_view rest) {
    return std::string(kOk) + std::string(rest);
}

TEST(HttpWholeResponse, EndsWhereItsFramingEnds) {
    EXPECT_EQ(verdict(ok("Content-Length: 5\r\n\r\nhelloHTTP")), "200 sized keeps complete 'hello' +4");
    EXPECT_EQ(verdict(ok("Content-Length: 0\r\n\r\n")), "200 sized keeps complete");
    EXPECT_EQ(verdict(ok("Content-Length: 5\r\n\r\nhel")), "200 sized keeps open 'hel'");
    EXPECT_EQ(verdict(ok("Content-Length: 5\r\n\r\nhel"), false, true), "200 sized keeps malformed 'hel'");
    EXPECT_EQ(
        verdict(ok("Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n3;x=y\r\nyou\r\n0 \r\nA: b\r\n\r\nx")),
        "200 chunked keeps complete 'helloyou' trailers A: b\\x0d\\x0a +1");
    EXPECT_EQ(verdict(ok("\r\nhello")), "200 until close closes open 'hello'");
    EXPECT_EQ(verdict(ok("\r\nhello"), false, true), "200 until close closes complete 'hello'");
    EXPECT_EQ(verdict(ok("Transfer-Encoding: chunked\r\n\r\n5\r\nhel"), false, true),
              "200 chunked keeps malformed 'hel'");
}

TEST(HttpWholeResponse, HasNoBodyForSomeStatusesAndForHead) {
    EXPECT_EQ(verdict("HTTP/1.1 204 No Content\r\n\r\nHTTP"), "204 none keeps complete +4");
    EXPECT_EQ(verdict("HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\nHTTP"),
              "304 none keeps complete +4");
    EXPECT_EQ(verdict("HTTP/1.1 100 Continue\r\n\r\nHTTP"), "100 none keeps complete +4");
    EXPECT_EQ(verdict("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n\x81"),
              "101 none keeps complete +1");
    EXPECT_EQ(verdict(ok("Content-Length: 5\r\n\r\n"), true), "200 none keeps complete");
    EXPECT_EQ(verdict(ok("Transfer-Encoding: chunked\r\n\r\n"), true), "200 none keeps complete");
}

TEST(HttpWholeResponse, StaysOpenAsItsFieldsState) {
    EXPECT_EQ(verdict(ok("Content-Length: 0\r\nConnection: Close\r\n\r\n")), "200 sized closes complete");
    EXPECT_EQ(verdict(ok("Content-Length: 0\r\nConnection: x, close\r\n\r\n")), "200 sized closes complete");
    EXPECT_EQ(verdict("HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n"), "200 sized closes complete");
    EXPECT_EQ(verdict("HTTP/1.0 200 OK\r\nContent-Length: 0\r\nConnection: keep-alive\r\n\r\n"),
              "200 sized keeps complete");
}

TEST(HttpWholeResponse, IsRefusedIfItsEndIsAmbiguous) {
    for (std::string_view fields :
         {"Content-Length: 5\r\nContent-Length: 5\r\n", "Content-Length: 5, 5\r\n", "Content-Length: +5\r\n",
          "Content-Length: -1\r\n", "Content-Length: 0x5\r\n", "Content-Length:\r\n",
          "Content-Length: 99999999999999999999\r\n", "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
          "Transfer-Encoding: gzip, chunked\r\n", "Transfer-Encoding: identity\r\n",
          "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", "Transfer-Encoding : chunked\r\n",
          "Bad Name: x\r\n", ": x\r\n", "no colon\r\n", "A: b\r\n folded\r\n", "A: b\nC: d\r\n"})
        EXPECT_TRUE(verdict(ok(fields) + "\r\nhello").starts_with("refused: ")) << fields;
    EXPECT_TRUE(verdict("HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n").starts_with("refused: "));
    EXPECT_TRUE(verdict("HTTP/1.1 204 No\r\nContent-Length: 5\r\n\r\nhello").starts_with("refused: "));
    EXPECT_TRUE(verdict("HTTP/1.1 101 Yes\r\nTransfer-Encoding: chunked\r\n\r\n").starts_with("refused: "));
    EXPECT_TRUE(verdict("HTTP/2 200\r\n\r\n").starts_with("refused: "));
    std::string many(kOk);
    for (size_t i = 0; i <= kMaximumFields; ++i) many += "A: b\r\n";
    EXPECT_EQ(verdict(many + "\r\n"), "refused: the response has more than 128 header fields");
}

TEST(HttpWholeResponse, KeepsThePhraseAndTheFields) {
    HttpResponse response;
    EXPECT_EQ(parse_http_response("HTTP/1.1 404 Not  Found\r\nA:  b \r\n\r\n", false, response), "");
    EXPECT_EQ(response.reason, "Not  Found");
    EXPECT_EQ(response.fields.at(0).value, "b");
    EXPECT_EQ(parse_http_response("HTTP/1.1 404\r\n\r\n", false, response), "");
    EXPECT_EQ(response.reason, "");
    EXPECT_TRUE(parse_http_response("HTTP/1.1 102 x\r\n\r\n", false, response).empty() &&
                response.is_interim());
}

TEST(HttpWholeResponse, BoundsChunkExtensions) {
    std::string head = ok("Transfer-Encoding: chunked\r\n\r\n5;");
    EXPECT_EQ(verdict(head + std::string(kMaximumExtension + 1, 'x')), "200 chunked keeps malformed +1");
    EXPECT_EQ(verdict(head + "\n"), "200 chunked keeps malformed +1");
}

}  // namespace
}  // namespace network::wire
